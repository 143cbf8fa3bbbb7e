package bgp

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

// rawConfig is a node with raw routers.
func rawConfig(peers ...Peer) Config {
	return Config{
		ASN: 65011, RouterID: netip.MustParseAddr("10.1.1.11"),
		Communities: []string{"65000:53", "65000:7:8"},
		Deprefer:    Deprefer{Prepend: 3, MED: 1000}, Peers: peers,
	}
}

// show renders an UPDATE with its attributes in the order of their types.
func show(u *bgp.BGPUpdate) string {
	attrs := slices.Clone(u.PathAttributes)
	slices.SortFunc(attrs, func(a, b bgp.PathAttributeInterface) int { return int(a.GetType()) - int(b.GetType()) })
	var b strings.Builder
	fmt.Fprintf(&b, "withdraw %v announce %v", u.WithdrawnRoutes, u.NLRI)
	for _, a := range attrs {
		fmt.Fprintf(&b, " %s", a)
	}
	return b.String()
}

// The bytes that leave for each stance, over eBGP and iBGP: one UPDATE for a
// change, no withdrawal between, none for a repetition.
func TestOnTheWire(t *testing.T) {
	const v4, v6 = "10.1.9.53/32", "2001:db8:9::53/128"
	tests := []struct {
		name            string
		asn             uint32
		full, second    string
		full6, withdraw string
	}{
		{
			"eBGP", 65000,
			"withdraw [] announce [10.1.9.53/32:0] {Origin: i} {AsPath: 65011} {Nexthop: 127.0.0.1} {Med: 0} {Communities: 65000:53, 65000:99} {LargeCommunity: [ 65011:167837963:1937001, 65000:7:8, 65000:9:9]}",
			"withdraw [] announce [10.1.9.53/32:0] {Origin: i} {AsPath: 65011 65011 65011 65011} {Nexthop: 127.0.0.1} {Med: 1000} {Communities: 65000:53, planned-shut, 65000:99} {LargeCommunity: [ 65011:167837963:1937002, 65000:7:8, 65000:9:9]}",
			"withdraw [] announce [] {Origin: i} {AsPath: 65011} {Med: 0} {Communities: 65000:53, 65000:99} {MpReach(ipv6-unicast): {Nexthop: 2001:db8::1, NLRIs: [2001:db8:9::53/128:0]}} {LargeCommunity: [ 65011:167837963:1937001, 65000:7:8, 65000:9:9]}",
			"withdraw [10.1.9.53/32:0] announce []",
		},
		{
			"iBGP", 65011,
			"withdraw [] announce [10.1.9.53/32:0] {Origin: i} {AsPath: } {Nexthop: 127.0.0.1} {LocalPref: 100} {Communities: 65000:53, 65000:99} {LargeCommunity: [ 65011:167837963:1937001, 65000:7:8, 65000:9:9]}",
			"withdraw [] announce [10.1.9.53/32:0] {Origin: i} {AsPath: } {Nexthop: 127.0.0.1} {LocalPref: 0} {Communities: 65000:53, planned-shut, 65000:99} {LargeCommunity: [ 65011:167837963:1937002, 65000:7:8, 65000:9:9]}",
			"withdraw [] announce [] {Origin: i} {AsPath: } {LocalPref: 100} {Communities: 65000:53, 65000:99} {MpReach(ipv6-unicast): {Nexthop: 2001:db8::1, NLRIs: [2001:db8:9::53/128:0]}} {LargeCommunity: [ 65011:167837963:1937001, 65000:7:8, 65000:9:9]}",
			"withdraw [10.1.9.53/32:0] announce []",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			router := newRawRouter(t, "127.53.2.1")
			s := startSpeaker(t, rawConfig(router.peer(tt.asn).with(func(p *Peer) {
				p.Communities = []string{"65000:99", "65000:9:9"}
			})))
			c := router.accept()
			c.establish(tt.asn)
			s.established(0)
			step := func(r []Route, want ...string) {
				t.Helper()
				for range 2 { // the repetition says nothing
					if err := s.Set(r); err != nil {
						t.Fatal(err)
					}
				}
				var got []string
				for range want {
					got = append(got, show(c.nextUpdate()))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("unexpected UPDATEs (-want +got):\n%s", diff)
				}
				c.quiet(50 * time.Millisecond)
			}
			step(routes(v4), tt.full)
			step(depreferred(routes(v4)), tt.second)
			step(routes(v4), tt.full)
			step(routes(v6), tt.withdraw, tt.full6)
			if diff := cmp.Diff([]netip.Prefix{netip.MustParsePrefix(v6)}, s.state(0).Sent, compareAddrs); diff != "" {
				t.Errorf("unexpected Sent (-want +got):\n%s", diff)
			}
		})
	}
}

// A steady session sends KEEPALIVEs and nothing else, and logs nothing.
func TestSteadyState(t *testing.T) {
	router := newRawRouter(t, "127.53.2.2")
	s := startSpeaker(t, rawConfig(router.peer(65000)))
	if err := s.Set(routes("10.1.9.53/32", "2001:db8:9::53/128")); err != nil {
		t.Fatal(err)
	}
	c := router.accept()
	c.establish(65000)
	c.nextUpdate()
	c.nextUpdate()
	s.established(0)
	until(t, "both sent", func() bool { return len(s.state(0).Sent) == 2 })
	lines := len(s.logs.lines(""))
	c.quiet(2*lookEvery + time.Second)
	if got := s.logs.lines(""); len(got) != lines {
		t.Errorf("a steady state logs: %q", got[lines:])
	}
}

// The OPEN has both families, the 4-byte AS, takes several paths, and has no
// graceful restart.
func TestOpen(t *testing.T) {
	router := newRawRouter(t, "127.53.2.3")
	c := rawConfig(router.peer(65000).with(func(p *Peer) { p.HoldTime = 12 * time.Second }))
	c.ASN = 4200000011
	s := startSpeaker(t, c)
	conn := router.accept()
	msg := conn.establish(65000)
	got, ok := parseOpen(msg)
	want := open{asn: 4200000011, hold: 12 * time.Second, routerID: netip.MustParseAddr("10.1.1.11"),
		v4: true, v6: true, multi: true, extendedHop: true, fourOctet: true}
	if !ok || got != want {
		t.Errorf("unexpected OPEN: %+v, want %+v", got, want)
	}
	m, err := bgp.ParseBGPMessage(msg)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range m.Body.(*bgp.BGPOpen).OptParams {
		for _, capability := range o.(*bgp.OptionParameterCapability).Capability {
			switch capability.Code() {
			case bgp.BGP_CAP_ADD_PATH:
				for _, f := range capability.(*bgp.CapAddPath).Tuples {
					if f.Mode != bgp.BGP_ADD_PATH_RECEIVE { // ours have no identifiers
						t.Errorf("unwanted add-path mode %v", f.Mode)
					}
				}
			case bgp.BGP_CAP_GRACEFUL_RESTART, bgp.BGP_CAP_LONG_LIVED_GRACEFUL_RESTART:
				t.Errorf("unwanted capability %v", capability.Code())
			}
		}
	}
	s.established(0)
	if id := s.state(0).RouterID; id != netip.MustParseAddr("192.0.2.254") {
		t.Errorf("unexpected router-id %s", id)
	}
}

// A router that says no is asked less and less often; its reason is logged
// once.
func TestRefusalBacksOff(t *testing.T) {
	router := newRawRouter(t, "127.53.2.4")
	s := startSpeaker(t, rawConfig(router.peer(65000)))
	refused := notification{code: codeOpen, subcode: openBadPeerAS, data: []byte{0xfd, 0xf3}}
	var times []time.Time
	for range 3 {
		c := router.accept()
		times = append(times, time.Now())
		c.expect(typeOpen)
		c.send(refused.message())
		_ = c.Close()
	}
	// One second, then two, each up to a quarter shorter.
	if first, second := times[1].Sub(times[0]), times[2].Sub(times[1]); first < 700*time.Millisecond || second < 1400*time.Millisecond {
		t.Errorf("asked again after %v and %v", first, second)
	}
	until(t, "idle", func() bool { return s.state(0).State == "IDLE" })
	want := "the router refuses our AS 65011: it says bad peer AS, so its configuration for this node names another"
	if got := s.state(0).LastError; got != want {
		t.Errorf("unexpected last error %q", got)
	}
	if n := len(s.logs.lines("bad peer AS")); n != 1 {
		t.Errorf("the reason is in %d lines of the log, not in one", n)
	}
	c := router.accept()
	c.establish(65000)
	s.established(0)
	if got := s.state(0).LastError; got != "" {
		t.Errorf("the last error outlives the return: %s", got)
	}
}

// A router that answers nothing is given up, with words.
func TestSilentRouter(t *testing.T) {
	router := newRawRouter(t, "127.53.2.5")
	s := startSpeaker(t, rawConfig(router.peer(65000)))
	c := router.accept()
	c.expect(typeOpen)
	router.accept() // the next attempt
	if got := s.state(0).LastError; got != "127.53.2.5 took the connection but sent no OPEN" {
		t.Errorf("unexpected last error %q", got)
	}
}

// A router without IPv6 gets IPv4, and the status says what is withheld.
func TestFamilyNotActivated(t *testing.T) {
	router := newRawRouter(t, "127.53.2.6")
	s := startSpeaker(t, rawConfig(router.peer(65000)))
	if err := s.Set(routes("10.1.9.53/32", "2001:db8:9::53/128")); err != nil {
		t.Fatal(err)
	}
	c := router.accept()
	c.send(message(typeOpen, []byte{4, 0xfd, 0xe8, 0, 90, 192, 0, 2, 254, 0}))
	c.expect(typeOpen)
	c.send(keepalive())
	r, err := dialect{narrow: true}.read(c.expect(typeUpdate))
	if got := fmt.Sprint(r.announced); err != nil || got != "[10.1.9.53/32]" {
		t.Errorf("unexpected UPDATE: %s, %v", got, err)
	}
	want := "IPv6 routes withheld: the router has not activated IPv6 unicast for this neighbour"
	until(t, want, func() bool { return s.state(0).LastError == want })
	if err := s.Set(routes("10.1.9.53/32")); err != nil { // nothing of IPv6 is missing any more
		t.Fatal(err)
	}
	if got := s.state(0).LastError; got != "" {
		t.Errorf("unexpected last error %q", got)
	}
	// It is noted after it has left, so the router may know it first.
	until(t, "IPv4 noted as sent", func() bool { return fmt.Sprint(s.state(0).Sent) == "[10.1.9.53/32]" })
}

// A lost session is dialed anew and gets everything, changes of the meantime
// included.
func TestReconnect(t *testing.T) {
	router := newRawRouter(t, "127.53.2.7")
	s := startSpeaker(t, rawConfig(router.peer(65000)))
	if err := s.Set(routes("10.1.9.53/32", "10.1.9.54/32")); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		c := router.accept()
		c.establish(65000)
		s.established(0)
		want := fmt.Sprintf("10.1.9.%d/32", 53+i)
		got := map[string]bool{}
		for len(got) < 2 {
			for _, n := range c.nextUpdate().NLRI {
				got[n.NLRI.String()] = true
			}
		}
		if !got[want] {
			t.Errorf("round %d lacks %s: %v", i, want, got)
		}
		_ = c.Close()
		until(t, "session down", func() bool { return s.state(0).State != "ESTABLISHED" })
		next := routes(fmt.Sprintf("10.1.9.%d/32", 54+i), fmt.Sprintf("10.1.9.%d/32", 55+i))
		if err := s.Set(next); err != nil {
			t.Fatal(err)
		}
	}
}

// apply applies one UPDATE to a router's table.
func (t tally) apply(tb testing.TB, msg []byte) {
	tb.Helper()
	r, err := dialect{}.read(msg)
	if err != nil {
		tb.Fatalf("failed to read UPDATE: %v", err)
	}
	t.sent(r)
}

// settle applies what still comes until it is quiet.
func (c *rawConn) settle(got tally) {
	c.t.Helper()
	for {
		msg, err := c.read(50 * time.Millisecond)
		if err != nil {
			return
		}
		if msg[18] == typeUpdate {
			got.apply(c.t, msg)
		}
	}
}

// meanwhile calls f again and again, with the number of the call, until stop,
// which returns when the last call has.
func meanwhile(t *testing.T, f func(i int) error) (stop func()) {
	t.Helper()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			if err := f(i); err != nil {
				t.Error(err)
			}
			select {
			case <-end:
				return
			default:
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// Routes change without a pause while sessions come up: what the router holds
// in the end is what was declared last, and Sent says the same. GoBGP would
// lose a change that falls into the moment in which a session comes up.
func TestChangesDuringStart(t *testing.T) {
	router := newRawRouter(t, "127.53.2.12")
	s := startSpeaker(t, rawConfig(router.peer(65000)))
	sets := [][]Route{
		routes("10.1.9.53/32"), routes("10.1.9.53/32", "10.1.9.54/32"), nil,
		routes("10.1.9.54/32", "2001:db8:9::53/128"), depreferred(routes("10.1.9.53/32")),
	}
	for round := range 25 {
		c := router.accept()
		stop := meanwhile(t, func(i int) error { return s.Set(sets[i%len(sets)]) })
		c.establish(65000)
		s.established(0)
		stop()
		last := sets[round%len(sets)]
		if err := s.Set(last); err != nil {
			t.Fatal(err)
		}
		want := make(tally)
		for _, r := range last {
			want[r.Prefix] = struct{}{}
		}
		got := make(tally)
		until(t, fmt.Sprintf("round %d: the router holds %v", round, want.prefixes()), func() bool {
			if msg, err := c.read(20 * time.Millisecond); err == nil && msg[18] == typeUpdate {
				got.apply(t, msg)
			}
			return len(got.minus(want))+len(want.minus(got)) == 0
		})
		c.settle(got)
		if left := append(got.minus(want), want.minus(got)...); len(left) > 0 {
			t.Fatalf("round %d: the router ends with a difference in %v", round, left)
		}
		if diff := cmp.Diff(want.prefixes(), s.state(0).Sent, compareAddrs); diff != "" {
			t.Errorf("round %d: unexpected Sent (-want +got):\n%s", round, diff)
		}
		_ = c.Close()
		until(t, "session down", func() bool { return s.state(0).State != "ESTABLISHED" })
	}
	for _, line := range s.logs.lines("level=ERROR") {
		t.Error(line)
	}
	t.Logf("routes sent anew: %d", len(s.logs.lines("were not sent")))
}

// Sessions that came and went leave no goroutine behind, however they ended.
func TestSessionsLeaveNothing(t *testing.T) {
	router := newRawRouter(t, "127.53.2.11")
	s := startSpeaker(t, rawConfig(router.peer(65000)))
	if err := s.Set(routes("10.1.9.53/32", "2001:db8:9::53/128")); err != nil {
		t.Fatal(err)
	}
	endings := []func(c *rawConn){
		func(c *rawConn) { _ = c.Close() },
		func(c *rawConn) { _ = c.SetLinger(0); _ = c.Close() }, // a reset
		func(c *rawConn) { c.send(cease(ceaseShutdown, "back soon").message()); _ = c.Close() },
		func(c *rawConn) { _ = s.ResetPeer(router.addr, "BFD"); c.expect(typeNotification); _ = c.Close() },
		func(c *rawConn) { c.send(cease(ceaseReset, "").message()[:20]); _ = c.Close() }, // within a message
	}
	begin := func() *rawConn {
		c := router.accept()
		c.establish(65000)
		s.established(0)
		c.nextUpdate()
		c.nextUpdate()
		return c
	}
	c := begin()
	before := runtime.NumGoroutine()
	for range 3 {
		for _, end := range endings {
			end(c)
			until(t, "session down", func() bool { return s.state(0).State != "ESTABLISHED" })
			c = begin()
		}
	}
	if !holds(func() bool { return runtime.NumGoroutine() <= before }) {
		t.Errorf("%d goroutines, %d before 15 sessions", runtime.NumGoroutine(), before)
	}
}

// Close says goodbye with a text, and nothing is left running.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	router := newRawRouter(t, "127.53.2.8")
	away := Peer{Address: netip.MustParseAddr("127.53.2.9"), Port: 1, ASN: 65000}
	s, err := New(rawConfig(router.peer(65000), away), (&logBook{}).logger(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	run := make(chan error, 1)
	go func() { run <- s.Run(context.Background()) }()
	for range 3 { // sessions that came and went leave nothing either
		c := router.accept()
		c.establish(65000)
		until(t, "established", func() bool { return s.Peers()[0].State == "ESTABLISHED" })
		_ = c.Close()
		until(t, "down", func() bool { return s.Peers()[0].State != "ESTABLISHED" })
	}
	c := router.accept()
	c.establish(65000)
	until(t, "established", func() bool { return s.Peers()[0].State == "ESTABLISHED" })
	closed := make(chan error, 1)
	go func() { closed <- s.Close(t.Context(), "héllo, router") }()
	n, _ := parseNotification(c.expect(typeNotification))
	if got := n.String(); got != `cease: administrative shutdown ("héllo, router")` {
		t.Errorf("unexpected notification: %s", got)
	}
	_ = c.Close()
	for _, ch := range []chan error{closed, run} {
		if err := <-ch; err != nil {
			t.Errorf("unexpected error: %v", err)
		}
	}
	if err := s.Set(nil); err == nil {
		t.Error("Set after Close has no error")
	}
	if holds(func() bool { return runtime.NumGoroutine() <= before }) {
		return
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// Close before Run, and Run after it.
func TestCloseFirst(t *testing.T) {
	s, err := New(rawConfig(Peer{Address: netip.MustParseAddr("127.53.2.9"), ASN: 65000}), (&logBook{}).logger(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context(), ""); err != nil {
		t.Errorf("unexpected error: %v", err)
	}
	if err := s.Run(t.Context()); err == nil {
		t.Error("Run after Close has no error")
	}
}

// ResetPeer touches established sessions only, and knows its peers.
func TestResetPeerStates(t *testing.T) {
	router := newRawRouter(t, "127.53.2.10")
	s := startSpeaker(t, rawConfig(router.peer(65000)))
	if err := s.ResetPeer(netip.MustParseAddr("192.0.2.1"), "x"); err == nil {
		t.Error("an unknown peer has no error")
	}
	c := router.accept()
	c.expect(typeOpen)
	if err := s.ResetPeer(router.addr, "not up"); err != nil {
		t.Fatal(err)
	}
	c.send(rawOpen(65000, "192.0.2.254", false))
	c.send(keepalive())
	s.established(0)
	if err := s.ResetPeer(router.addr, "BFD: timer"); err != nil {
		t.Fatal(err)
	}
	n, _ := parseNotification(c.expect(typeNotification))
	if got := n.String(); got != "cease: BFD down" {
		t.Errorf("unexpected notification: %s", got)
	}
	until(t, "the reason", func() bool { return s.state(0).LastError == "BFD: timer" })
}
