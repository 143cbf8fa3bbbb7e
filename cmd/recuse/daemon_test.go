package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
	"recuse/netlinkx/netnstest"
)

// TestDaemonGoesBack allows a reload to cost routes, for a link that somebody
// else has: the daemon goes on with the settings of before, and says so.
func TestDaemonGoesBack(t *testing.T) {
	if !netnstest.Isolate(t) {
		return
	}
	dir, kind := t.TempDir(), netlinktest.Kind(t)
	path := filepath.Join(dir, "recuse.yaml")
	write := func(link string) {
		t.Helper()
		text := fmt.Sprintf(`
state_dir: %[1]s/state
control: {socket: %[1]s/sock, group: ""}
http: {listen: ""}
bgp: {asn: 65011, router_id: 192.0.2.11, peers: [{address: 127.0.0.9, asn: 65000}]}
services:
  - name: dns
    addresses: [192.0.2.53/32]
    link: {name: %[2]s, kind: %[3]s}
    checks: [{dns: {}}]
`, dir, link, kind)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("anycast0")
	done := make(chan error, 1)
	go func() { done <- daemon(path) }()
	client := control.NewClient(filepath.Join(dir, "sock"))
	waitFor := func(what string, ok func(control.Status) bool) {
		t.Helper()
		var st control.Status
		var err error
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(30 * time.Second); ; <-tick.C {
			if st, err = client.Status(context.Background()); err == nil && ok(st) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("not %s: %+v, %v", what, st, err)
			}
		}
	}
	waitFor("up", func(st control.Status) bool { return len(st.Alarms) == 0 })
	foreign := netlinktest.NewBox(t, netlinkx.Config{Service: "other", Link: "foreign0", Kind: kind,
		Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.80/32")}})
	foreign.AddLink(kind, "")
	write("foreign0")
	if got := run([]string{"reload", "--allow-withdraw", "-c", path}); got != exitOK {
		t.Errorf("reload: exit code %d", got)
	}
	waitFor("back with an alarm", func(st control.Status) bool {
		return len(st.Alarms) == 1 && strings.Contains(st.Alarms[0], "foreign0") &&
			st.Services[0].Link.Name == "anycast0" && !st.Config.LastReloadOK
	})
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the daemon does not end")
	}
}
