package agent

import (
	"strings"
	"testing"

	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
	"recuse/netlinkx/netnstest"
)

// TestKernelLeftover starts on a box on which a killed agent left the service's
// link under the name, and with the addresses, of an earlier configuration: none
// of it is a conflict, and none of it stays.
func TestKernelLeftover(t *testing.T) {
	if !netnstest.Isolate(t) {
		return
	}
	old := netlinktest.NewBox(t, netlinkx.Config{Service: "dns", Link: "old0",
		Kind: netlinktest.Kind(t), Addresses: []prefix{addr4, addr6,
			prefixOf("192.0.2.54/32"), prefixOf("2001:db8:9::54/128")}})
	if err := old.Raise(); err != nil {
		t.Fatal(err)
	}
	k := newKernelRun(t)
	if got := old.String(); strings.Contains(got, "old0") {
		t.Errorf("the old link stays:\n%s", got)
	}
	if got, want := k.state(), k.link("down"); got != want {
		t.Errorf("got state:\n%swant:\n%s", k.last, want)
	}
	k.end()
	if got := k.box.String(); got != "" {
		t.Errorf("left behind:\n%s", got)
	}
}
