package netlinkx_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
)

// left leaves a raised link behind, as an agent that is killed does.
func left(t *testing.T, c netlinkx.Config) *netlinktest.Box {
	t.Helper()
	b := netlinktest.NewBox(t, c)
	must(t, b.Raise())
	return b
}

// exists tells whether there is a link of that name.
func exists(name string) bool {
	_, err := netlink.LinkByName(name)
	return err == nil
}

// TestAdoptOtherName starts with another link in the file: the one that the
// last run made for the service goes, one of another service does not.
func TestAdoptOtherName(t *testing.T) {
	tests := map[string]struct {
		edit  func(old *netlinkx.Config)
		stays bool
	}{
		"the service's": {func(*netlinkx.Config) {}, false},
		"another service's": {func(old *netlinkx.Config) {
			old.Service, old.Addresses = "web", []netip.Prefix{netip.MustParsePrefix("192.0.2.80/32")}
		}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			netlinktest.NewNS(t)
			old := configOf(netlinktest.Kind(t))
			old.Link = "old0"
			tt.edit(&old)
			left(t, old)
			now := netlinktest.NewBox(t, configOf(netlinktest.Kind(t)))
			must(t, now.Lock())
			must(t, now.Adopt())
			if got := exists("old0"); got != tt.stays {
				t.Errorf("the old link exists: %t, want %t", got, tt.stays)
			}
			if !exists("anycast0") {
				t.Error("the new link was not made")
			}
		})
	}
}

// TestAdoptRunning leaves a link alone that bears the service's name but
// belongs to an agent that runs.
func TestAdoptRunning(t *testing.T) {
	netlinktest.NewNS(t)
	theirs := configOf(netlinktest.Kind(t))
	theirs.Link, theirs.Addresses = "old0", []netip.Prefix{netip.MustParsePrefix("192.0.2.80/32")}
	running := left(t, theirs)
	must(t, running.Lock())
	now := netlinktest.NewBox(t, configOf(netlinktest.Kind(t)))
	must(t, now.Lock())
	must(t, now.Adopt())
	if !exists("old0") {
		t.Error("a running agent's link was deleted")
	}
	must(t, running.Release())
	must(t, now.Adopt())
	if exists("old0") {
		t.Error("a dead agent's link stays")
	}
}

// TestAdoptExisting changes the service to a link of somebody else's: the one
// that was made for it goes.
func TestAdoptExisting(t *testing.T) {
	netlinktest.NewNS(t)
	left(t, configOf(netlinktest.Kind(t)))
	c := configOf(netlinkx.KindExisting)
	c.Link = "lo"
	now := netlinktest.NewBox(t, c)
	must(t, now.Lock())
	must(t, now.Adopt())
	if exists("anycast0") {
		t.Error("the link that was made for the service stays")
	}
}

// TestSweep takes away the unreachable routes of a run that was killed, and no
// others.
func TestSweep(t *testing.T) {
	more := netip.MustParsePrefix("2001:db8::54/128")
	tests := []struct {
		name string
		do   func(t *testing.T, old *netlinktest.Box) // before the sweep
		want string                                   // of the routes
	}{
		{"killed while out", func(t *testing.T, old *netlinktest.Box) {
			must(t, old.Lower())
		}, "unreachable 2001:db8::53/128\n"},
		{"on a link that is kept", func(*testing.T, *netlinktest.Box) {},
			"unreachable 2001:db8::53/128\nunreachable 2001:db8::54/128\n"},
		{"out, but running", func(t *testing.T, old *netlinktest.Box) {
			must(t, old.Lock())
			must(t, old.Lower())
		}, "unreachable 2001:db8::53/128\nunreachable 2001:db8::54/128\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			netlinktest.NewNS(t)
			old := configOf(netlinktest.Kind(t))
			old.Service, old.Link = "web", "anycast1"
			old.Addresses = []netip.Prefix{netip.MustParsePrefix("192.0.2.80/32"), more}
			tt.do(t, left(t, old))
			now := netlinktest.NewBox(t, configOf(netlinktest.Kind(t)))
			must(t, now.Lock())
			must(t, now.Adopt())
			must(t, now.Sweep(configOf("").Addresses))
			want := "link anycast0 " + netlinktest.Kind(t) + " down \"recuse:dns\"\n" + tt.want
			if got := now.String(); got != want {
				t.Errorf("got state:\n%swant:\n%s", got, want)
			}
		})
	}
}

// TestConnectedLeftover takes a link that an earlier run made for the service
// under another name for no conflict, and that of another service for one.
func TestConnectedLeftover(t *testing.T) {
	netlinktest.NewNS(t)
	old := configOf(netlinktest.Kind(t))
	old.Link = "old0"
	left(t, old)
	now := configOf(old.Kind)
	got, err := netlinkx.Connected(now.Addresses, []netlinkx.Config{now})
	if err != nil || len(got) != 0 {
		t.Errorf("its own: got %v, %v, want no conflict", got, err)
	}
	got, err = netlinkx.Connected(now.Addresses, []netlinkx.Config{{Link: now.Link}})
	if err != nil || len(got) != 2 {
		t.Errorf("by name alone: got %v, %v, want both addresses", got, err)
	}
	now.Service = "web"
	got, err = netlinkx.Connected(now.Addresses, []netlinkx.Config{now})
	if err != nil || len(got) != 2 {
		t.Errorf("another's: got %v, %v, want both addresses", got, err)
	}
}

// TestLinksWhileLinksGo reads the box's links while others come and go.
func TestLinksWhileLinksGo(t *testing.T) {
	netlinktest.NewNS(t)
	k, err := netlinkx.NewKernel()
	must(t, err)
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE) // works in this namespace from any thread
	must(t, err)
	stopped := make(chan struct{})
	kind := netlinktest.Kind(t)
	go func() {
		defer close(stopped)
		for i := range 40 {
			attrs := netlink.NewLinkAttrs()
			attrs.Name = fmt.Sprintf("x%d", i%7)
			l := &netlink.GenericLink{LinkAttrs: attrs, LinkType: kind}
			if err := h.LinkAdd(l); err != nil {
				t.Error(err)
			}
			if err := h.LinkDel(l); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		select {
		case <-stopped:
			return
		default:
		}
		links, err := k.Links()
		if err != nil {
			t.Errorf("failed while links go: %v", err)
			<-stopped
			return
		}
		if len(links) == 0 || links[0].Name != "lo" {
			t.Errorf("got %v, want lo at least", links)
		}
	}
}
