package cable

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// space is a network namespace without a name: it ends with its last thread,
// process and socket, whatever becomes of the test.
type space struct {
	handle netns.NsHandle
	link   *netlink.Handle
	work   chan func()
}

// newSpace makes a namespace that ends with the test.
func newSpace(t testing.TB) *space {
	t.Helper()
	s := &space{work: make(chan func())}
	made := make(chan error)
	go s.live(made)
	if err := <-made; err != nil {
		t.Fatalf("failed to make namespace: %v", err)
	}
	t.Cleanup(func() {
		close(s.work)
		s.link.Close()
		if err := s.handle.Close(); err != nil {
			t.Error(err)
		}
	})
	var err error
	if s.link, err = netlink.NewHandleAt(s.handle, unix.NETLINK_ROUTE); err != nil {
		t.Fatal(err)
	}
	s.up(t, "lo")
	return s
}

// live runs what do is given on a thread of the namespace, which is never given
// back and so ends with it. The main thread would not end: it is passed over.
func (s *space) live(made chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		started := make(chan error)
		go s.live(started)
		made <- <-started
		runtime.UnlockOSThread()
		return
	}
	err := unix.Unshare(unix.CLONE_NEWNET)
	if err == nil {
		s.handle, err = netns.Get()
	}
	made <- err
	for f := range s.work {
		f()
	}
}

// do runs f in the namespace.
func (s *space) do(f func() error) error {
	done := make(chan error, 1)
	s.work <- func() { done <- f() }
	return <-done
}

// must is do for what has to go well.
func (s *space) must(t testing.TB, f func() error) {
	t.Helper()
	if err := s.do(f); err != nil {
		t.Fatal(err)
	}
}

// up sets an interface up.
func (s *space) up(t testing.TB, name string) {
	t.Helper()
	link, err := s.link.LinkByName(name)
	if err == nil {
		err = s.link.LinkSetUp(link)
	}
	if err != nil {
		t.Fatalf("failed to set up %s: %v", name, err)
	}
}

// address gives an interface an address, usable at once.
func (s *space) address(t testing.TB, name, prefix string) {
	t.Helper()
	link, err := s.link.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p := netip.MustParsePrefix(prefix)
	a := &netlink.Addr{IPNet: &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}}
	if p.Addr().Is6() {
		a.Flags = unix.IFA_F_NODAD
	}
	if err := s.link.AddrAdd(link, a); err != nil {
		t.Fatalf("failed to add %s: %v", prefix, err)
	}
}

// run runs a program in the namespace and returns what it printed.
func (s *space) run(t testing.TB, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(name, args...)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, w
	err = s.do(cmd.Start)
	w.Close()
	if err != nil {
		t.Fatalf("failed to run %s: %v", name, err)
	}
	out := make([]byte, 0, 4096)
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		if out = append(out, buf[:n]...); err != nil {
			break
		}
	}
	return string(out), cmd.Wait()
}

// Addresses of the two hosts of a wired bed.
const (
	leftIP, rightIP   = "10.1.1.1", "10.1.1.2"
	leftIP6, rightIP6 = "2001:db8:1::1", "2001:db8:1::2"
)

// bed is two hosts with a cable between them.
type bed struct {
	left, middle, right *space
	*Cable
}

// wired makes two hosts and joins them. It needs root.
func wired(t testing.TB) *bed {
	t.Helper()
	needRoot(t)
	b := &bed{left: newSpace(t), middle: newSpace(t), right: newSpace(t)}
	b.join(t, b.left, "a", leftIP+"/24", leftIP6+"/64")
	b.join(t, b.right, "b", rightIP+"/24", rightIP6+"/64")
	b.plug(t)
	return b
}

// plug puts the cable in until the test ends.
func (b *bed) plug(t testing.TB) {
	t.Helper()
	var err error
	if b.Cable, err = New(b.middle.do, "a", "b"); err != nil {
		t.Fatal(err)
	}
	c := b.Cable
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// join makes a pair of interfaces from a host to the middle.
func (b *bed) join(t testing.TB, host *space, end string, addresses ...string) {
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Namespace = end, netlink.NsFd(b.middle.handle)
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "e0", PeerNamespace: netlink.NsFd(host.handle)}
	if err := b.middle.link.LinkAdd(veth); err != nil {
		t.Fatalf("failed to make pair: %v", err)
	}
	b.middle.up(t, end)
	host.up(t, "e0")
	for _, a := range addresses {
		host.address(t, "e0", a)
	}
}

// needRoot skips the test without root, or fails it where nothing may be
// skipped.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() == 0 && os.Getenv("RECUSE_TEST_UNPRIVILEGED") != "1" {
		return
	}
	if os.Getenv("RECUSE_TEST_REQUIRE_ROOT") == "1" {
		t.Fatal("network namespaces need root")
	}
	t.Skip("skipped: network namespaces need root")
}
