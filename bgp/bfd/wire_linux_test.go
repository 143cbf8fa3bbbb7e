package bfd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A capture is a raw socket in the peer's namespace of a lab, which sees each
// packet with its IP header, and a scripted peer that answers.
type capture struct {
	*lab
	way      way
	raw, udp int
}

// newCapture makes a capture of a way. Sockets stay in the namespace in which
// they were made, so one visit of a thread there is enough.
func newCapture(l *lab, w way) *capture {
	l.t.Helper()
	c := &capture{lab: l, way: w}
	errs := make(chan error)
	go func() {
		// Should the way back fail, the thread ends with the goroutine.
		runtime.LockOSThread()
		errs <- c.visit()
	}()
	if err := <-errs; err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(c.close)
	c.hops(255)
	return c
}

// visit makes the sockets in the peer's namespace.
func (c *capture) visit() error {
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer home.Close()
	away, err := os.Open("/run/netns/" + c.peer)
	if err != nil {
		return err
	}
	defer away.Close()
	if err := unix.Setns(int(away.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	if err := errors.Join(c.open(), unix.Setns(int(home.Fd()), unix.CLONE_NEWNET)); err != nil {
		return err
	}
	runtime.UnlockOSThread()
	return nil
}

// open makes the sockets in the namespace of the calling thread.
func (c *capture) open() (err error) {
	proto := uint16(unix.ETH_P_IP)
	if c.way.his.Is6() {
		proto = unix.ETH_P_IPV6
	}
	// SOCK_DGRAM leaves the link's header out.
	if c.raw, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(proto<<8|proto>>8)); err != nil {
		return err
	}
	timeout := unix.Timeval{Sec: 5}
	if err := unix.SetsockoptTimeval(c.raw, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		return err
	}
	if c.udp, err = newSocket(c.way.his.Is6(), nil); err != nil {
		return err
	}
	return unix.Bind(c.udp, sockaddr(c.way.his, 50000))
}

// sockaddr returns an address that is not link-local for the kernel.
func sockaddr(a netip.Addr, port int) unix.Sockaddr {
	return (&sender{}).sockaddr(a, port)
}

// answer sends a packet of the scripted peer.
func (c *capture) answer(p Packet) {
	c.t.Helper()
	port := endpoint{multihop: c.way.multihop}.port()
	if err := unix.Sendto(c.udp, p.AppendTo(nil), 0, sockaddr(c.way.our, port)); err != nil {
		c.t.Fatal(err)
	}
}

// A frame is all that there is to see of a packet of ours.
type frame struct {
	Src, Dst           netip.Addr
	TTL, TOS           byte
	SrcPort, DstPort   int
	UDPLen             int
	Version            byte
	Length             byte
	Packet             Packet
	Multipoint, Padded bool // both false
}

// next returns the next packet that came from our address.
func (c *capture) next() frame {
	c.t.Helper()
	buf := make([]byte, 2048)
	for {
		n, _, err := unix.Recvfrom(c.raw, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue // a signal of the Go runtime
		}
		if err != nil {
			c.t.Fatalf("no packet: %v", err)
		}
		if f, ok := dissect(buf[:n]); ok && f.Src == c.way.our {
			return f
		}
	}
}

// dissect takes an IP packet apart. It reports whether it is one of UDP.
func dissect(b []byte) (frame, bool) {
	var f frame
	var udp []byte
	switch b[0] >> 4 {
	case 4:
		if b[9] != unix.IPPROTO_UDP {
			return f, false
		}
		f.TOS, f.TTL = b[1], b[8]
		f.Src, f.Dst = netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
		udp = b[4*(b[0]&0xf) : binary.BigEndian.Uint16(b[2:])]
	case 6:
		if b[6] != unix.IPPROTO_UDP {
			return f, false
		}
		f.TOS, f.TTL = b[0]<<4|b[1]>>4, b[7]
		f.Src, f.Dst = netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:]))
		udp = b[40 : 40+binary.BigEndian.Uint16(b[4:])]
	}
	f.SrcPort = int(binary.BigEndian.Uint16(udp))
	f.DstPort = int(binary.BigEndian.Uint16(udp[2:]))
	f.UDPLen = int(binary.BigEndian.Uint16(udp[4:]))
	p := udp[8:]
	f.Version, f.Length = p[0]>>5, p[3]
	f.Multipoint = p[1]&bitMultipoint != 0
	f.Padded = len(p) != int(p[3])
	f.Packet, _ = Parse(p)
	return f, true
}

// until skips packets until one has what ok asks for, and returns it.
func (c *capture) until(what string, ok func(Packet) bool) frame {
	c.t.Helper()
	for range 100 {
		if f := c.next(); ok(f.Packet) {
			return f
		}
	}
	c.t.Fatalf("no packet with %s", what)
	return frame{}
}

// TestOnTheWire looks at every field of what we send in a whole life: Down,
// Init, Up with Poll, Up, the answer to a Poll, a change of intervals with
// Poll, Down again since the peer said so, AdminDown.
func TestOnTheWire(t *testing.T) {
	needRoot(t, "ip", "nft")
	for _, w := range ways {
		if w.his.IsLinkLocalUnicast() {
			continue // the way is v6's, and the scripted peer knows no zones
		}
		t.Run(w.name, func(t *testing.T) { life(t, newCapture(newLab(t), w)) })
	}
}

// life is TestOnTheWire on one way.
func life(t *testing.T, c *capture) {
	s, err := c.engine.Add(Config{
		Peer: c.way.his, Local: c.way.our, Multihop: c.way.multihop, Interface: c.way.ours,
		DesiredMinTx: 200 * ms, RequiredMinRx: 400 * ms, Multiplier: 5,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	discr := s.Status().LocalDiscriminator
	his := Packet{
		State: Down, Multiplier: 3, MyDiscriminator: 0xfeedbeef,
		DesiredMinTx: time.Minute, RequiredMinRx: 50 * ms,
	}
	say := func(f func(*Packet)) {
		his.YourDiscriminator = discr
		f(&his)
		c.answer(his)
		his.Poll, his.Final = false, false
	}
	ttl := byte(255)
	if c.way.multihop {
		ttl-- // the router
	}
	down := frame{
		Src: c.way.our, Dst: c.way.his, TTL: ttl, TOS: 0xc0,
		DstPort: 3784, UDPLen: 32, Version: 1, Length: 24,
		Packet: Packet{
			State: Down, Multiplier: 5, MyDiscriminator: discr,
			DesiredMinTx: time.Second, RequiredMinRx: 400 * ms,
		},
	}
	if c.way.multihop {
		down.DstPort = 4784
	}
	first := c.next()
	if p := first.SrcPort; p < 49152 || p > 65535 {
		t.Errorf("source port %d", p)
	}
	down.SrcPort = first.SrcPort
	expect := func(what string, got frame, f func(*Packet)) {
		t.Helper()
		want := down
		f(&want.Packet)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s: unexpected packet (-want +got):\n%s", what, diff)
		}
	}
	up := func(p *Packet) { p.State, p.YourDiscriminator, p.DesiredMinTx = Up, his.MyDiscriminator, 200*ms }

	expect("down", first, func(*Packet) {})

	his.YourDiscriminator = 0
	c.answer(his)
	expect("init", c.until("Init", is(Init)), func(p *Packet) { p.State, p.YourDiscriminator = Init, his.MyDiscriminator })

	say(func(p *Packet) { p.State = Init })
	expect("up", c.until("Up", is(Up)), func(p *Packet) { up(p); p.Poll = true })
	expect("up, repeated", c.next(), func(p *Packet) { up(p); p.Poll = true })

	say(func(p *Packet) { p.State, p.Final = Up, true })
	expect("up, told", c.until("no Poll", func(p Packet) bool { return !p.Poll }), up)
	expect("up, told, again", c.next(), up)

	say(func(p *Packet) { p.Poll = true })
	expect("final", c.until("Final", func(p Packet) bool { return p.Final }), func(p *Packet) { up(p); p.Final = true })
	expect("after final", c.next(), up)

	if err := s.Update(Intervals{DesiredMinTx: 100 * ms, RequiredMinRx: 150 * ms, Multiplier: 7}); err != nil {
		t.Fatal(err)
	}
	changed := func(p *Packet) {
		up(p)
		p.DesiredMinTx, p.RequiredMinRx, p.Multiplier = 100*ms, 150*ms, 7
	}
	expect("changed", c.until("Poll", func(p Packet) bool { return p.Poll }), func(p *Packet) { changed(p); p.Poll = true })
	say(func(p *Packet) { p.Final = true })
	expect("changed, told", c.until("no Poll", func(p Packet) bool { return !p.Poll }), changed)

	say(func(p *Packet) { p.State, p.Diag = Down, DiagExpired })
	expect("down again", c.until("Down", is(Down)), func(p *Packet) {
		changed(p)
		p.State, p.Diag, p.DesiredMinTx, p.Poll = Down, DiagNeighborDown, time.Second, true
	})

	s.SetAdminDown(true)
	expect("admin down", c.until("AdminDown", is(AdminDown)), func(p *Packet) {
		changed(p)
		p.State, p.Diag, p.DesiredMinTx, p.Poll = AdminDown, DiagAdminDown, time.Second, true
	})
}

// is returns a function that asks for a state.
func is(s State) func(Packet) bool {
	return func(p Packet) bool { return p.State == s }
}

// TestRefusesFarPackets: a single hop session wants 255, whoever the packet
// names, a multihop session what it was told; there is one router on the way.
func TestRefusesFarPackets(t *testing.T) {
	needRoot(t, "ip", "nft")
	tests := []struct {
		name        string
		way         way
		sent, least int
		accepted    bool
	}{
		{"single hop, 255", ways[0], 255, 0, true},
		{"single hop, 254", ways[0], 254, 0, false},
		{"single hop, 254, told that it would do", ways[0], 254, 254, false},
		{"multihop, any", ways[3], 64, 0, true},
		{"multihop, near enough", ways[3], 255, 254, true},
		{"multihop, too far", ways[3], 255, 255, false},
		{"multihop v6, near enough", ways[4], 64, 63, true},
		{"multihop v6, too far", ways[4], 64, 64, false},
	}
	l := newLab(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCapture(l, tt.way)
			defer c.close()
			c.hops(tt.sent)
			s, err := l.engine.Add(Config{Peer: tt.way.his, Multihop: tt.way.multihop, MinTTL: uint8(tt.least)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Remove()
			c.answer(Packet{State: Down, Multiplier: 3, MyDiscriminator: 9})
			l.eventually("the packet is judged", 5*time.Second,
				func() bool { st := s.Status(); return st.Received+st.Discarded[DiscardTTL] == 1 },
				func() string { return fmt.Sprintf("%+v", s.Status()) })
			if got := s.Status().State == Init; got != tt.accepted {
				t.Errorf("accepted %t, want %t", got, tt.accepted)
			}
		})
	}
}

// hops sets the TTL or hop limit of the scripted peer's packets.
func (c *capture) hops(n int) {
	c.t.Helper()
	level, name := unix.IPPROTO_IP, unix.IP_TTL
	if c.way.his.Is6() {
		level, name = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS
	}
	if err := unix.SetsockoptInt(c.udp, level, name, n); err != nil {
		c.t.Fatal(err)
	}
}

// close closes the sockets, once.
func (c *capture) close() {
	unix.Close(c.raw)
	unix.Close(c.udp)
	c.raw, c.udp = -1, -1
}
