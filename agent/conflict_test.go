package agent

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recuse/netlinkx"
)

// TestLoopConflictAppears puts a service's address into the subnet of another
// link while the agent runs: an alarm that moves no route, and ends with it.
func TestLoopConflictAppears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		var found []netlinkx.Conflict
		var broken error
		looks := 0
		w.inLoop(func() {
			w.loop.connected = func(_ []netip.Prefix, ours []netlinkx.Config) ([]netlinkx.Conflict, error) {
				if looks++; len(ours) != 1 || ours[0].Link != "anycast0" {
					t.Errorf("unexpected links of ours: %+v", ours)
				}
				return found, broken
			}
		})
		alarm := func() (text string) {
			w.inLoop(func() { text = w.loop.snapshot().Services[0].Link.Error })
			return text
		}
		change := func() { w.byHand("an address elsewhere", func() {}) }
		wait := func() { w.until(time.Since(w.start) + 2*conflictEvery) }
		change()
		if got := alarm(); got != "" {
			t.Errorf("an alarm for nothing: %s", got)
		}
		w.inLoop(func() {
			found = []netlinkx.Conflict{{Address: addr4, Link: "eth0", Subnet: prefixOf("192.0.2.0/24")}}
		})
		for range 20 {
			change()
		}
		wait()
		if got := alarm(); !strings.Contains(got, `192.0.2.0/24 of link "eth0"`) {
			t.Errorf("no alarm: %q", got)
		}
		if looks != 2 {
			t.Errorf("looked %d times, though not more than every %s", looks, conflictEvery)
		}
		if got := strings.Count(w.logs.String(), "192.0.2.0/24"); got != 1 {
			t.Errorf("logged %d times:\n%s", got, w.logs)
		}
		w.inLoop(func() { broken, found = errors.New("dump interrupted"), nil })
		change()
		wait()
		if alarm() == "" {
			t.Error("a look that failed ended the alarm")
		}
		w.inLoop(func() { broken = nil })
		wait()
		if got := alarm(); got != "" {
			t.Errorf("the alarm stays: %s", got)
		}
		if got := w.read(); strings.Contains(got, "routes") || strings.Contains(got, "raise") {
			t.Errorf("something moved: %s", got)
		}
	})
}
