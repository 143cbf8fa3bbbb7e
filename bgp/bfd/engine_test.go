package bfd

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A lot is a transport whose links match by local address and interface and
// send nowhere.
type lot struct{}

// A lotLink is a link of lot.
type lotLink struct {
	conf    Config
	ifindex int
}

// lotInterfaces are the interfaces that lot knows.
var lotInterfaces = map[string]int{"eth0": 2, "eth1": 3}

func (lot) open(c *Config) (link, error) { return &lotLink{*c, lotInterfaces[c.Interface]}, nil }
func (lot) close()                       {}

func (l *lotLink) send([]byte) error { return nil }
func (l *lotLink) local() netip.Addr { return l.conf.Local }
func (l *lotLink) drain()            {}
func (l *lotLink) close()            {}
func (l *lotLink) matches(d *datagram) bool {
	return (!l.conf.Local.IsValid() || l.conf.Local == d.to) && (l.ifindex == 0 || l.ifindex == d.ifindex)
}

// newLot returns an engine on lot.
func newLot(t *testing.T) *Engine {
	t.Helper()
	e := newEngine(Options{})
	e.transport = lot{}
	t.Cleanup(e.Close)
	return e
}

// add adds a session or fails the test.
func add(t *testing.T, e *Engine, c Config) *Session {
	t.Helper()
	s, err := e.Add(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	peer1 = netip.MustParseAddr("192.0.2.1")
	peer2 = netip.MustParseAddr("192.0.2.2")
	peer6 = netip.MustParseAddr("fe80::1")
	own1  = netip.MustParseAddr("192.0.2.11")
	own2  = netip.MustParseAddr("192.0.2.12")
	own6  = netip.MustParseAddr("fe80::11")
)

// TestFind is the demultiplexer: which session gets which packet, or why none.
func TestFind(t *testing.T) {
	e := newLot(t)
	plain := add(t, e, Config{Peer: peer1})
	first := add(t, e, Config{Peer: peer2, Local: own1})
	second := add(t, e, Config{Peer: peer2, Local: own2})
	far := add(t, e, Config{Peer: peer2, Local: own1, Multihop: true})
	eth0 := add(t, e, Config{Peer: peer6.WithZone("eth0")})
	eth1 := add(t, e, Config{Peer: peer6, Interface: "eth1"})

	tests := []struct {
		name    string
		your    uint32
		state   State
		d       datagram
		want    *Session
		discard Discard
	}{
		{"by discriminator", first.discr, Up, datagram{from: peer2, to: own1}, first, Accepted},
		{"by discriminator, from elsewhere", first.discr, Up, datagram{from: peer1, to: own2, ifindex: 9}, first, Accepted},
		{"unknown discriminator", unusedDiscriminator(e), Down, datagram{from: peer1}, nil, DiscardUnknown},
		{"single hop, to the multihop port", first.discr, Up, datagram{from: peer2, to: own1, multihop: true}, nil, DiscardPort},
		{"multihop, to the single hop port", far.discr, Up, datagram{from: peer2, to: own1}, nil, DiscardPort},
		{"by peer", 0, Down, datagram{from: peer1, to: own2}, plain, Accepted},
		{"by peer, admin down", 0, AdminDown, datagram{from: peer1, to: own2}, plain, Accepted},
		{"init without discriminator", 0, Init, datagram{from: peer1, to: own1}, nil, DiscardState},
		{"up without discriminator", 0, Up, datagram{from: peer1, to: own1}, nil, DiscardState},
		{"by local address, first", 0, Down, datagram{from: peer2, to: own1}, first, Accepted},
		{"by local address, second", 0, Down, datagram{from: peer2, to: own2}, second, Accepted},
		{"by port", 0, Down, datagram{from: peer2, to: own1, multihop: true}, far, Accepted},
		{"no such local address, multihop", 0, Down, datagram{from: peer2, to: own2, multihop: true}, nil, DiscardNoSession},
		{"by interface, first", 0, Down, datagram{from: peer6, to: own6, ifindex: 2}, eth0, Accepted},
		{"by interface, second", 0, Down, datagram{from: peer6, to: own6, ifindex: 3}, eth1, Accepted},
		{"another interface", 0, Down, datagram{from: peer6, to: own6, ifindex: 4}, nil, DiscardNoSession},
		{"stranger", 0, Down, datagram{from: own1, to: own2}, nil, DiscardNoSession},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Packet{State: tt.state, Multiplier: 1, MyDiscriminator: 1, YourDiscriminator: tt.your}
			got, discard := e.find(&p, &tt.d)
			if got != tt.want || discard != tt.discard {
				t.Errorf("got %p (%v), want %p (%v)", got, discard, tt.want, tt.discard)
			}
		})
	}
}

// unusedDiscriminator returns one that no session of e has.
func unusedDiscriminator(e *Engine) uint32 {
	for d := uint32(1); ; d++ {
		if e.byDiscr[d] == nil {
			return d
		}
	}
}

// TestStrayPackets: what no session gets is counted by the engine, what a
// session refuses by that session.
func TestStrayPackets(t *testing.T) {
	e := newLot(t)
	s := add(t, e, Config{Peer: peer1})
	good := Packet{State: Down, Multiplier: 3, MyDiscriminator: 5}
	stray := good
	stray.State = Up
	e.deliver(&datagram{payload: []byte{0x20}, from: peer1})
	e.deliver(&datagram{payload: stray.AppendTo(nil), from: peer1})
	e.deliver(&datagram{payload: good.AppendTo(nil), from: peer2, ttl: 255})
	e.deliver(&datagram{payload: good.AppendTo(nil), from: peer1, ttl: 254})
	e.deliver(&datagram{payload: good.AppendTo(nil), from: peer1, ttl: 255, at: time.Now()})
	want := map[Discard]uint64{DiscardShort: 1, DiscardState: 1, DiscardNoSession: 1}
	if diff := cmp.Diff(want, e.Discarded()); diff != "" {
		t.Errorf("unexpected counts of the engine (-want +got):\n%s", diff)
	}
	st := s.Status()
	if diff := cmp.Diff(map[Discard]uint64{DiscardTTL: 1}, st.Discarded); diff != "" {
		t.Errorf("unexpected counts of the session (-want +got):\n%s", diff)
	}
	if st.Received != 1 || st.State != Init {
		t.Errorf("received %d, state %v", st.Received, st.State)
	}
}

func TestAddRefuses(t *testing.T) {
	e := newLot(t)
	add(t, e, Config{Peer: peer1, Local: own1})
	tests := []struct {
		name string
		c    Config
		want string
	}{
		{"no peer", Config{}, "peer: invalid IP: must be the address of one host"},
		{"every peer", Config{Peer: netip.IPv4Unspecified()}, "peer: 0.0.0.0: must be the address of one host"},
		{"group", Config{Peer: netip.MustParseAddr("ff02::1")}, "peer: ff02::1: must be the address of one host"},
		{"families", Config{Peer: peer1, Local: own6}, "local: fe80::11: must be of the family of the peer, 192.0.2.1"},
		{"no zone", Config{Peer: peer6}, "peer: fe80::1: a link-local address needs an interface"},
		{"multihop on an interface", Config{Peer: peer1, Multihop: true, Interface: "eth0"}, "interface: eth0: a multihop session has none"},
		{"too fast", Config{Peer: peer1, DesiredMinTx: 9 * ms}, "desired_min_tx: 9ms: must be 10ms to 1h11m34.967295s"},
		{"too slow", Config{Peer: peer1, RequiredMinRx: 72 * time.Minute}, "required_min_rx: 1h12m0s: must be 10ms to 1h11m34.967295s"},
		{"negative", Config{Peer: peer1, RequiredMinRx: -1}, "required_min_rx: -1ns: must be 10ms to 1h11m34.967295s"},
		{"no key", Config{Peer: peer1, Auth: &Auth{Type: KeyedMD5}}, "auth.keys: none: keyed-md5 needs at least one"},
		{"twice", Config{Peer: netip.MustParseAddr("::ffff:192.0.2.1"), Local: own1}, "there is one already"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := e.Add(tt.c, nil)
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	if n := len(e.byDiscr); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestDefaults(t *testing.T) {
	got := Config{Peer: netip.MustParseAddr("::ffff:192.0.2.1")}.normalize()
	want := Config{
		Peer: peer1, MinTTL: 255, Multiplier: 3,
		DesiredMinTx: 300 * ms, RequiredMinRx: 300 * ms,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("unexpected defaults (-want +got):\n%s", diff)
	}
}

// TestDiscriminator: one that is zero or another session's is drawn again.
func TestDiscriminator(t *testing.T) {
	e := newLot(t)
	draws := []uint32{5, 0, 5, 6}
	e.draw = func() uint32 { d := draws[0]; draws = draws[1:]; return d }
	first, second := add(t, e, Config{Peer: peer1}), add(t, e, Config{Peer: peer2})
	if a, b := first.Status().LocalDiscriminator, second.Status().LocalDiscriminator; a != 5 || b != 6 {
		t.Errorf("got %d and %d, want 5 and 6", a, b)
	}
}

// TestManySessions: discriminators are unique and not zero, and removal leaves
// nothing behind.
func TestManySessions(t *testing.T) {
	e := newLot(t)
	var all []*Session
	for i := range 256 {
		all = append(all, add(t, e, Config{Peer: netip.AddrFrom4([4]byte{10, 0, byte(i), 1})}))
	}
	if len(e.byDiscr) != 256 || e.byDiscr[0] != nil {
		t.Errorf("%d discriminators", len(e.byDiscr))
	}
	for _, s := range all {
		s.Remove()
	}
	if len(e.byDiscr) != 0 || len(e.byPeer) != 0 {
		t.Errorf("left over: %d by discriminator, %d by peer", len(e.byDiscr), len(e.byPeer))
	}
}

func TestLateness(t *testing.T) {
	var l Lateness
	if got := l.Quantile(0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	for _, d := range []time.Duration{-1, 0, 3 * time.Microsecond, 900 * time.Microsecond, 70 * ms, time.Hour} {
		l.add(d)
	}
	if l.Worst != time.Hour {
		t.Errorf("worst %v", l.Worst)
	}
	tests := []struct {
		q    float64
		want time.Duration
	}{
		{0, 1 * time.Microsecond},
		{0.33, 1 * time.Microsecond},
		{0.5, 4 * time.Microsecond},
		{0.6, 1024 * time.Microsecond},
		{0.8, 131072 * time.Microsecond},
		{1, 1048576 * time.Microsecond},
	}
	for _, tt := range tests {
		if got := l.Quantile(tt.q); got != tt.want {
			t.Errorf("quantile %v: %v, want %v", tt.q, got, tt.want)
		}
	}
}
