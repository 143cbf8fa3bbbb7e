package bgp

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

// compareAddrs lets cmp look at addresses.
var compareAddrs = cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})

// rawRouter is a router of few words: it takes connections on a loopback
// address and does what a test says, well or badly.
type rawRouter struct {
	t    testing.TB
	addr netip.Addr
	port uint16
	l    *net.TCPListener
}

// newRawRouter listens on addr, on a free port.
func newRawRouter(t testing.TB, addr string) *rawRouter {
	t.Helper()
	a := netip.MustParseAddr(addr)
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
	if err != nil {
		t.Fatalf("failed to listen: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &rawRouter{t: t, addr: a, port: l.Addr().(*net.TCPAddr).AddrPort().Port(), l: l}
}

// peer is the configuration of that router.
func (r *rawRouter) peer(asn uint32) Peer {
	return Peer{
		Address: r.addr, Port: r.port, ASN: asn, ConnectRetry: 200 * time.Millisecond,
		NextHopV6: netip.MustParseAddr("2001:db8::1"),
	}
}

// accept takes the next connection.
func (r *rawRouter) accept() *rawConn {
	r.t.Helper()
	_ = r.l.SetDeadline(time.Now().Add(30 * time.Second))
	c, err := r.l.AcceptTCP()
	if err != nil {
		r.t.Fatalf("failed to accept: %v", err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return &rawConn{t: r.t, TCPConn: c}
}

// rawConn is one connection from a speaker under test.
type rawConn struct {
	t testing.TB
	*net.TCPConn
}

// read returns the next whole message, or an error.
func (c *rawConn) read(wait time.Duration) ([]byte, error) {
	_ = c.SetReadDeadline(time.Now().Add(wait))
	head := make([]byte, headerLen)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil, err
	}
	n, _, err := header(head)
	if err != nil {
		return nil, err
	}
	msg := append(head, make([]byte, n-headerLen)...)
	_, err = io.ReadFull(c, msg[headerLen:])
	return msg, err
}

// expect returns the next message of that type and passes over KEEPALIVEs.
func (c *rawConn) expect(kind uint8) []byte {
	c.t.Helper()
	for {
		msg, err := c.read(10 * time.Second)
		if err != nil {
			c.t.Fatalf("no message of type %d: %v", kind, err)
		}
		if msg[18] == kind {
			return msg
		}
		if msg[18] != typeKeepalive {
			c.t.Fatalf("message of type %d instead of %d: % x", msg[18], kind, msg)
		}
	}
}

// send writes bytes as they are. The speaker may have closed, which the test
// sees by what it reads.
func (c *rawConn) send(b []byte) {
	_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_, _ = c.Write(b)
}

// rawOpen is an OPEN with both families and the extended next hop if asked.
func rawOpen(asn uint32, id string, extended bool) []byte {
	caps := []byte{1, 4, 0, 1, 0, 1, 1, 4, 0, 2, 0, 1, 2, 0, capFourOctetAS, 4}
	caps = binary.BigEndian.AppendUint32(caps, asn)
	if extended {
		caps = append(caps, capExtendedHop, 6, 0, 1, 0, 1, 0, 2)
	}
	as := uint16(asTrans)
	if asn <= 65535 {
		as = uint16(asn)
	}
	b := []byte{4, byte(as >> 8), byte(as), 0, 90}
	b4 := netip.MustParseAddr(id).As4()
	b = append(b, b4[:]...)
	b = append(b, byte(len(caps)+2), paramCapabilities, byte(len(caps)))
	return message(typeOpen, append(b, caps...))
}

// keepalive is a KEEPALIVE.
func keepalive() []byte { return message(typeKeepalive, nil) }

// establish goes through the handshake as a router of that AS, and returns the
// speaker's OPEN.
func (c *rawConn) establish(asn uint32) []byte {
	c.t.Helper()
	c.send(rawOpen(asn, "192.0.2.254", false))
	got := c.expect(typeOpen)
	c.send(keepalive())
	return got
}

// nextUpdate returns the next UPDATE.
func (c *rawConn) nextUpdate() *bgp.BGPUpdate {
	c.t.Helper()
	m, err := bgp.ParseBGPMessage(c.expect(typeUpdate))
	if err != nil {
		c.t.Fatalf("failed to parse UPDATE: %v", err)
	}
	return m.Body.(*bgp.BGPUpdate)
}

// quiet fails if an UPDATE comes within wait.
func (c *rawConn) quiet(wait time.Duration) {
	c.t.Helper()
	end := time.Now().Add(wait)
	for {
		msg, err := c.read(time.Until(end))
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return
		}
		if err != nil {
			c.t.Fatalf("connection lost: %v", err)
		}
		if msg[18] != typeKeepalive {
			c.t.Fatalf("unexpected message of type %d: % x", msg[18], msg)
		}
	}
}

// running is a Speaker in its Run.
type running struct {
	*Speaker
	t    testing.TB
	logs *logBook
}

// startSpeaker runs a Speaker until the test ends.
func startSpeaker(t testing.TB, c Config) *running {
	t.Helper()
	r := &running{t: t, logs: &logBook{}}
	s, err := New(c, r.logs.logger(), func() {})
	if err != nil {
		t.Fatalf("failed to make a speaker: %v", err)
	}
	r.Speaker = s
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Run(t.Context()); err != nil {
			t.Errorf("Run failed: %v", err)
		}
	})
	t.Cleanup(wg.Wait)
	return r
}

// until fails the test if ok does not come true.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !holds(ok) {
		t.Fatalf("in vain: %s", what)
	}
}

// holds waits at most 30 s for ok, and reports whether it came true.
func holds(ok func() bool) bool {
	end := time.NewTimer(30 * time.Second)
	defer end.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-end.C:
			return false
		}
	}
	return true
}

// state returns the state of the peer of that index.
func (r *running) state(i int) PeerState { return r.Peers()[i] }

// established waits for a peer.
func (r *running) established(i int) {
	r.t.Helper()
	until(r.t, "session established", func() bool { return r.state(i).State == "ESTABLISHED" })
}

// routes turns prefixes into full routes.
func routes(prefixes ...string) []Route {
	var list []Route
	for _, p := range prefixes {
		list = append(list, Route{Prefix: netip.MustParsePrefix(p)})
	}
	return list
}
