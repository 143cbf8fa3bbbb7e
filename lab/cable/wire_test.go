package cable

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"recuse/netlinkx/netnstest"
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
	netnstest.Need(t)
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

// listen opens a UDP socket on the right host, whose buffer holds what a test
// sends at once.
func (b *bed) listen(t testing.TB) *net.UDPConn {
	t.Helper()
	var conn *net.UDPConn
	b.right.must(t, func() (err error) {
		conn, err = net.ListenUDP("udp", nil)
		return err
	})
	t.Cleanup(func() { _ = conn.Close() })
	forceBuffer(t, conn)
	return conn
}

// dial opens a UDP socket on the left host to one on the right.
func (b *bed) dial(t testing.TB, to *net.UDPConn) *net.UDPConn {
	t.Helper()
	var conn *net.UDPConn
	b.left.must(t, func() (err error) {
		conn, err = net.DialUDP("udp", nil, &net.UDPAddr{IP: net.ParseIP(rightIP), Port: port(to)})
		return err
	})
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// port is a socket's own.
func port(conn *net.UDPConn) int { return conn.LocalAddr().(*net.UDPAddr).Port }

// forceBuffer lets the kernel hold 16 MiB for a socket.
func forceBuffer(t testing.TB, conn *net.UDPConn) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20)
	})
	if err = errors.Join(err, failed); err != nil {
		t.Fatalf("failed to enlarge buffer: %v", err)
	}
}
