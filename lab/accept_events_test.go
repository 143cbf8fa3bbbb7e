package lab_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"recuse/lab/topology"
)

// after takes a router's events until the prefix has, or has not, that next
// hop, and returns when the kernel said so.
func after(t testing.TB, events <-chan topology.RouteEvent, p netip.Prefix, hop netip.Addr, want bool) time.Time {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("lost sight of the router's routes")
			}
			if e.Prefix == p && slices.Contains(e.NextHops, hop) == want {
				return e.At
			}
		case <-timer.C:
			t.Fatalf("next hop %s of %s: still not %v after %v", hop, p, want, patience)
		}
	}
}
