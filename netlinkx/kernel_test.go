package netlinkx_test

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
)

var (
	v4 = netip.MustParsePrefix("192.0.2.53/32")
	v6 = netip.MustParsePrefix("2001:db8::53/128")
)

// configOf returns a configuration with a link of that kind.
func configOf(kind string) netlinkx.Config {
	return netlinkx.Config{Service: "dns", Link: "anycast0", Kind: kind, Addresses: []netip.Prefix{v4, v6}}
}

// newBox puts the test into a namespace of its own, with a holder on a link of
// the kind that the kernel can make.
func newBox(t *testing.T) *netlinktest.Box {
	t.Helper()
	netlinktest.NewNS(t)
	return netlinktest.NewBox(t, configOf(netlinktest.Kind(t)))
}

// must ends the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAddresses looks at the addresses as the kernel shows them, before and
// after the link was down.
func TestAddresses(t *testing.T) {
	b := newBox(t)
	check := func(when string) {
		t.Helper()
		must(t, b.Raise())
		link, err := netlink.LinkByName("anycast0")
		must(t, err)
		list, err := netlink.AddrList(link, netlink.FAMILY_ALL)
		must(t, err)
		if len(list) != 2 { // the kernel gives no link-local address of its own
			t.Fatalf("%s: got addresses %v, want the two of the service", when, list)
		}
		for _, a := range list {
			checkAddress(t, when, a)
		}
	}
	check("at first")
	b.SetDown()
	check("after down")
	must(t, b.Lower())
	check("after lower")
}

// checkAddress checks what must be true of every service address.
func checkAddress(t *testing.T, when string, a netlink.Addr) {
	t.Helper()
	want := unix.IFA_F_PERMANENT
	if a.IP.To4() == nil {
		want |= unix.IFA_F_NODAD | unix.IFA_F_DEPRECATED
		if a.PreferedLft != 0 {
			t.Errorf("%s: %s is preferred for %d s, want 0", when, a.IP, a.PreferedLft)
		}
	}
	if a.Flags != want || a.Scope != unix.RT_SCOPE_UNIVERSE || uint32(a.ValidLft) != ^uint32(0) {
		t.Errorf("%s: %s: got flags %#x, scope %d, valid for %d s, want %#x, 0, forever",
			when, a.IP, a.Flags, a.Scope, uint32(a.ValidLft), want)
	}
}

// TestAnswers asks the box on both addresses as soon as Raise is back.
func TestAnswers(t *testing.T) {
	b := newBox(t)
	must(t, b.Raise())
	for _, p := range []netip.Prefix{v4, v6} {
		server, err := net.ListenPacket("udp", netip.AddrPortFrom(p.Addr(), 53).String())
		must(t, err)
		t.Cleanup(func() { server.Close() })
		must(t, server.SetDeadline(time.Now().Add(10*time.Second)))
		client, err := net.Dial("udp", server.LocalAddr().String())
		must(t, err)
		_, err = client.Write([]byte("?"))
		must(t, err)
		must(t, client.Close())
		if n, _, err := server.ReadFrom(make([]byte, 2)); n != 1 || err != nil {
			t.Errorf("%s: got %d bytes, %v", p, n, err)
		}
	}
}

// TestTentative adds an IPv6 address on a bridge that is down, where the kernel
// keeps it tentative: it does not count, and Raise puts one in its place that
// does.
func TestTentative(t *testing.T) {
	netlinktest.NewNS(t)
	netlinktest.NeedKind(t, netlinkx.KindBridge)
	b := netlinktest.NewBox(t, configOf(netlinkx.KindBridge))
	must(t, b.Raise())
	must(t, b.Lower())
	link, err := netlink.LinkByName("anycast0")
	must(t, err)
	must(t, netlink.AddrAdd(link, &netlink.Addr{
		IPNet: &net.IPNet{IP: v6.Addr().AsSlice(), Mask: net.CIDRMask(128, 128)}}))
	if !strings.Contains(b.String(), v6.String()+" tentative") {
		t.Fatalf("the address is not tentative:\n%s", b)
	}
	for _, want := range []int{1, 2} {
		s, err := b.Observe()
		must(t, err)
		if len(s.Present) != want {
			t.Fatalf("got %v present, want %d of them; the state is:\n%s", s.Present, want, b)
		}
		must(t, b.Raise())
	}
}

// TestEveryKind makes a link of each kind, or is told the way out.
func TestEveryKind(t *testing.T) {
	made := 0
	for _, kind := range []string{netlinkx.KindDummy, netlinkx.KindIFB, netlinkx.KindBridge} {
		t.Run(kind, func(t *testing.T) {
			netlinktest.NewNS(t)
			b := netlinktest.NewBox(t, configOf(kind))
			err := b.Ensure()
			if errors.Is(err, netlinkx.ErrNoKind) {
				if !strings.Contains(err.Error(), "modprobe "+kind) || strings.Contains(b.String(), "link") {
					t.Errorf("unexpected error %q or state:\n%s", err, b)
				}
				return
			}
			must(t, err)
			made++
			if want := "link anycast0 " + kind + ` down "recuse:dns"`; !strings.HasPrefix(b.String(), want) {
				t.Errorf("got state:\n%s\nwant %s", b, want)
			}
		})
	}
	if made == 0 {
		t.Error("this kernel makes no link of any kind")
	}
}

// TestNotPermitted takes CAP_NET_ADMIN from the test's thread.
func TestNotPermitted(t *testing.T) {
	b := newBox(t)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	must(t, unix.Capget(&header, &caps[0]))
	caps[0].Effective &^= 1 << unix.CAP_NET_ADMIN
	must(t, unix.Capset(&header, &caps[0]))

	err := b.Raise()
	if !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), "CAP_NET_ADMIN") {
		t.Errorf("unexpected error: %v", err)
	}
	if _, err := b.Observe(); err != nil {
		t.Errorf("unexpected error: %v", err)
	}
	if b.String() != "" {
		t.Errorf("unexpected state:\n%s", b)
	}
}

// sysctl sets a sysctl of the test's namespace.
func sysctl(t *testing.T, name, value string) {
	t.Helper()
	path := "/proc/sys/" + strings.ReplaceAll(name, ".", "/") // the thread's own view
	if err := os.WriteFile(path, []byte(value), 0); err != nil {
		netlinktest.Missing(t, "a /proc/sys to write to", err)
	}
}

// TestIPv6Disabled forbids IPv6 on every new link, as many boxes do.
func TestIPv6Disabled(t *testing.T) {
	b := newBox(t)
	sysctl(t, "net.ipv6.conf.default.disable_ipv6", "1")
	err := b.Raise()
	if !errors.Is(err, netlinkx.ErrNoIPv6) || !strings.Contains(err.Error(), "net.ipv6.conf.anycast0.disable_ipv6=0") {
		t.Errorf("unexpected error: %v", err)
	}
	sysctl(t, "net.ipv6.conf.anycast0.disable_ipv6", "0")
	must(t, b.Raise())
	must(t, b.Remove())
	if b.String() != "" {
		t.Errorf("unexpected state:\n%s", b)
	}
}

// TestSharedLink holds two services' addresses on lo: one leaves, the other
// stays.
func TestSharedLink(t *testing.T) {
	netlinktest.NewNS(t)
	c := netlinkx.Config{Service: "dns", Link: "lo", Kind: netlinkx.KindExisting, Addresses: []netip.Prefix{v4, v6}}
	dns := netlinktest.NewBox(t, c)
	c.Service, c.Addresses = "web", []netip.Prefix{netip.MustParsePrefix("192.0.2.80/32"), netip.MustParsePrefix("2001:db8::80/128")}
	web := netlinktest.NewBox(t, c)
	must(t, dns.Lock())
	must(t, web.Lock())
	must(t, dns.Raise())
	must(t, web.Raise())
	must(t, dns.Remove())
	want := "link lo device up \"\"\n  address 192.0.2.80/32\n  address 2001:db8::80/128\nunreachable 2001:db8::80/128\n"
	if got := web.String(); got != want {
		t.Errorf("got state:\n%swant:\n%s", got, want)
	}
}
