package bgp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/osrg/gobgp/v4/pkg/packet/bgp"
)

func TestNeedsRestart(t *testing.T) {
	base := rawConfig(v4Peer()).withDefaults()
	used := base.RouterID
	tests := []struct {
		name  string
		id    netip.Addr
		other func(*Config)
		want  string
	}{
		{"nothing", used, func(*Config) {}, ""},
		{"AS", used, func(c *Config) { c.ASN = 65012 }, "bgp.asn: changed from 65011 to 65012: needs a restart of the agent"},
		{"identifier", used, func(c *Config) { c.RouterID = netip.MustParseAddr("10.1.1.12") },
			"bgp.router_id: changed from 10.1.1.11 to 10.1.1.12: needs a restart of the agent"},
		{"identifier left out", used, func(c *Config) { c.RouterID = netip.Addr{} }, ""},
		{"identifier not found yet", netip.Addr{}, func(c *Config) { c.RouterID = netip.MustParseAddr("10.1.1.12") }, ""},
		{"port", used, func(c *Config) { c.Listen = netip.MustParseAddrPort("10.1.1.11:179") },
			"bgp.listen: changed from invalid AddrPort to 10.1.1.11:179: needs a restart of the agent"},
	}
	for _, tt := range tests {
		c := base
		tt.other(&c)
		err := base.needsRestart(c, tt.id)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || (err != nil) != errors.Is(err, ErrRestart) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What a session is built on, and what it is not.
func TestSameSession(t *testing.T) {
	base := v4Peer().withDefaults()
	tests := map[string]struct {
		change func(*Peer)
		same   bool
	}{
		"nothing":        {func(*Peer) {}, true},
		"communities":    {func(p *Peer) { p.Communities = []string{"65000:1"} }, true},
		"next hops":      {func(p *Peer) { p.NextHopV4, p.NextHopV6 = addrs("10.1.1.9")[0], addrs("2001:db8::9")[0] }, true},
		"AS":             {func(p *Peer) { p.ASN = 65001 }, false},
		"password":       {func(p *Peer) { p.Password = "x" }, false},
		"ttl_security":   {func(p *Peer) { p.TTLSecurity = true }, false},
		"multihop":       {func(p *Peer) { p.Multihop = 2 }, false},
		"hold time":      {func(p *Peer) { p.HoldTime = 12 * time.Second }, false},
		"connect retry":  {func(p *Peer) { p.ConnectRetry = 12 * time.Second }, false},
		"port":           {func(p *Peer) { p.Port = 1179 }, false},
		"local address":  {func(p *Peer) { p.LocalAddress = addrs("10.1.1.11")[0] }, false},
		"interface":      {func(p *Peer) { p.Interface = "e0" }, false},
		"default spoken": {func(p *Peer) { p.Port, p.HoldTime = 179, 9*time.Second }, true},
	}
	for name, tt := range tests {
		o := base
		tt.change(&o)
		if got := base.sameSession(o); got != tt.same {
			t.Errorf("%s: same session = %t", name, got)
		}
	}
}

func TestTermsAffect(t *testing.T) {
	hop := netip.MustParseAddr("10.1.1.11")
	base := terms{external: true, deprefer: Deprefer{3, 1000}, hops: hops{v4: hop}}
	full, second := routeSet{netip.MustParsePrefix(service[0]): false}, routeSet{netip.MustParsePrefix(service[0]): true}
	other := func(f func(*terms)) terms {
		o := base
		f(&o)
		return o
	}
	tests := []struct {
		name   string
		to     terms
		routes routeSet
		want   bool
	}{
		{"nothing", base, second, false},
		{"next hop", other(func(t *terms) { t.hops.v4 = netip.MustParseAddr("10.1.1.12") }), full, true},
		{"communities", other(func(t *terms) { t.extra.standard = []uint32{1} }), full, true},
		{"deprefer, nothing depreferred", other(func(t *terms) { t.deprefer.MED = 1 }), full, false},
		{"deprefer", other(func(t *terms) { t.deprefer.MED = 1 }), second, true},
		{"deprefer on iBGP", other(func(t *terms) { t.deprefer.MED = 1; t.external = false }), second, true},
	}
	for _, tt := range tests {
		if got := base.affects(tt.to, tt.routes); got != tt.want {
			t.Errorf("%s: affects = %t", tt.name, got)
		}
	}
	internal := other(func(t *terms) { t.external = false })
	changed := internal
	changed.deprefer.MED = 1
	if internal.affects(changed, second) {
		t.Error("iBGP has neither MED nor prepending")
	}
}

// twoRouters are two raw routers with established sessions and one route each.
func twoRouters(t *testing.T, a, b string) (s *running, c Config, conns [2]*rawConn) {
	t.Helper()
	one, two := newRawRouter(t, a), newRawRouter(t, b)
	c = rawConfig(one.peer(65000), two.peer(65000))
	s = startSpeaker(t, c)
	if err := s.Set(routes("10.1.9.53/32")); err != nil {
		t.Fatal(err)
	}
	for i, r := range []*rawRouter{one, two} {
		conns[i] = r.accept()
		conns[i].establish(65000)
		s.established(i)
		conns[i].nextUpdate()
		until(t, "sent", func() bool { return len(s.state(i).Sent) == 1 })
	}
	return s, c, conns
}

// A changed attribute is one UPDATE, on the sessions that it concerns, and
// nothing on the others.
func TestUpdateAttributes(t *testing.T) {
	s, c, conns := twoRouters(t, "127.53.5.1", "127.53.5.2")
	since := [2]time.Time{s.state(0).Since, s.state(1).Since}
	const tail = " {Communities: 65000:53} {LargeCommunity: [ 65011:167837963:1937001, 65000:7:8]}"
	update := func(what string, change func(*Config), want ...string) {
		t.Helper()
		c.Peers = append([]Peer(nil), c.Peers...)
		change(&c)
		for range 2 { // the repetition says nothing
			if err := s.Update(c); err != nil {
				t.Fatal(err)
			}
		}
		for i, w := range want {
			if w != "" {
				if diff := cmp.Diff(w, show(conns[i].nextUpdate())); diff != "" {
					t.Errorf("%s: unexpected UPDATE to %d (-want +got):\n%s", what, i, diff)
				}
			}
			conns[i].quiet(50 * time.Millisecond)
		}
	}
	head := "withdraw [] announce [10.1.9.53/32:0] {Origin: i} {AsPath: 65011}"
	update("a peer's communities", func(c *Config) { c.Peers[0].Communities = []string{"65000:99"} },
		head+" {Nexthop: 127.0.0.1} {Med: 0} {Communities: 65000:53, 65000:99} {LargeCommunity: [ 65011:167837963:1937001, 65000:7:8]}", "")
	update("and away", func(c *Config) { c.Peers[0].Communities = nil }, head+" {Nexthop: 127.0.0.1} {Med: 0}"+tail, "")
	update("a next hop", func(c *Config) { c.Peers[1].NextHopV4 = netip.MustParseAddr("192.0.2.7") },
		"", head+" {Nexthop: 192.0.2.7} {Med: 0}"+tail)
	update("deprefer while nothing is", func(c *Config) { c.Deprefer.MED = 2000 }, "", "")
	update("the common communities and a peer's",
		func(c *Config) { c.Communities, c.Peers[0].Communities = []string{"65000:54"}, []string{"65000:98"} },
		head+" {Nexthop: 127.0.0.1} {Med: 0} {Communities: 65000:54, 65000:98} {LargeCommunity: [ 65011:167837963:1937001]}",
		head+" {Nexthop: 192.0.2.7} {Med: 0} {Communities: 65000:54} {LargeCommunity: [ 65011:167837963:1937001]}")
	if err := s.Set(depreferred(routes("10.1.9.53/32"))); err != nil {
		t.Fatal(err)
	}
	for _, conn := range conns {
		if got := show(conn.nextUpdate()); !strings.Contains(got, "{Med: 2000}") || !strings.Contains(got, "65011 65011 65011 65011") {
			t.Errorf("unexpected second choice: %s", got)
		}
	}
	second := "withdraw [] announce [10.1.9.53/32:0] {Origin: i} {AsPath: 65011 65011}"
	update("deprefer", func(c *Config) { c.Deprefer = Deprefer{Prepend: 1, MED: 3000} },
		second+" {Nexthop: 127.0.0.1} {Med: 3000} {Communities: 65000:54, planned-shut, 65000:98} {LargeCommunity: [ 65011:167837963:1937002]}",
		second+" {Nexthop: 192.0.2.7} {Med: 3000} {Communities: 65000:54, planned-shut} {LargeCommunity: [ 65011:167837963:1937002]}")
	update("the order of the peers", func(c *Config) { c.Peers[0], c.Peers[1] = c.Peers[1], c.Peers[0] }, "", "")
	if got := s.state(0).Address; got != c.Peers[0].Address {
		t.Errorf("the first peer is %s", got)
	}
	if s.state(1).Since != since[0] || s.state(0).Since != since[1] {
		t.Error("a session was touched")
	}
}

// Peers come, go and change, each alone.
func TestUpdatePeers(t *testing.T) {
	s, c, conns := twoRouters(t, "127.53.5.3", "127.53.5.4")
	third := newRawRouter(t, "127.53.5.5")
	since := s.state(0).Since
	update := func(peers ...Peer) {
		t.Helper()
		c.Peers = peers
		if err := s.Update(c); err != nil {
			t.Fatal(err)
		}
		if got := len(s.Peers()); got != len(peers) {
			t.Errorf("%d peers, want %d", got, len(peers))
		}
	}
	goodbye := func(conn *rawConn, want string) {
		t.Helper()
		n, _ := parseNotification(conn.expect(typeNotification))
		if n.String() != want {
			t.Errorf("unexpected goodbye %q, want %q", n, want)
		}
		_ = conn.Close()
	}
	one, two := c.Peers[0], c.Peers[1]
	update(one, two, third.peer(65000))
	conn := third.accept()
	conn.establish(65000)
	conn.nextUpdate()

	update(one, third.peer(65000))
	goodbye(conns[1], "cease: peer de-configured")
	longer := third.peer(65000).with(func(p *Peer) { p.HoldTime = 30 * time.Second })
	update(one, longer)
	goodbye(conn, "cease: other configuration change")
	conn = third.accept()
	if o, _ := parseOpen(conn.establish(65000)); o.hold != 30*time.Second {
		t.Errorf("the new session offers a hold time of %v", o.hold)
	}
	conn.nextUpdate()
	// Gone and back before the router has read its goodbye.
	update(one)
	update(one, longer)
	goodbye(conn, "cease: peer de-configured")
	conn = third.accept()
	conn.establish(65000)
	conn.nextUpdate()

	conns[0].quiet(50 * time.Millisecond)
	if got := s.state(0); got.Since != since {
		t.Errorf("the first session was touched: %+v", got)
	}
}

// An error leaves everything as it was.
func TestUpdateRefused(t *testing.T) {
	s, c, conns := twoRouters(t, "127.53.5.6", "127.53.5.7")
	bad := map[string]func(*Config){
		"bgp.asn: changed":                          func(c *Config) { c.ASN = 65012; c.Communities = nil },
		"bgp.peers: at least one":                   func(c *Config) { c.Peers = nil },
		`communities: "x": must be two`:             func(c *Config) { c.Communities, c.Peers = []string{"x"}, c.Peers[:1] },
		"named twice":                               func(c *Config) { c.Peers = append(c.Peers, c.Peers[0]) },
		"bgp.listen: changed from invalid AddrPort": func(c *Config) { c.Listen = netip.MustParseAddrPort("127.0.0.1:1790") },
	}
	before := s.Peers()
	for want, change := range bad {
		broken := c
		broken.Peers = append([]Peer(nil), c.Peers...)
		change(&broken)
		if err := s.Update(broken); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("unexpected error %v, want %s", err, want)
		}
	}
	for _, conn := range conns {
		conn.quiet(50 * time.Millisecond)
	}
	if diff := cmp.Diff(before, s.Peers(), compareAddrs); diff != "" {
		t.Errorf("something changed (-was +is):\n%s", diff)
	}
}

// Before Run and after Close.
func TestUpdateOutsideRun(t *testing.T) {
	router := newRawRouter(t, "127.53.5.8")
	s, err := New(rawConfig(v4Peer()), (&logBook{}).logger(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Update(rawConfig(router.peer(65000))); err != nil {
		t.Fatal(err)
	}
	run := make(chan error, 1)
	go func() { run <- s.Run(t.Context()) }()
	c := router.accept()
	c.establish(65000)
	until(t, "established", func() bool { return s.Peers()[0].State == "ESTABLISHED" })
	_ = c.Close()
	if err := s.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := <-run; err != nil {
		t.Error(err)
	}
	if err := s.Update(rawConfig(router.peer(65000))); !errors.Is(err, errClosed) {
		t.Errorf("Update after Close: %v", err)
	}
}

// The open port takes the new password of a peer, and the sessions of others
// do not notice.
func TestFRRUpdate(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, one := l.pair()
	two := l.ns("s")
	l.join(node, two, "e1")
	l.addr(node, "e1", "10.2.1.11/24")
	l.addr(two, "e1", "10.2.1.1/24")
	f1 := l.frr(one, frrNeighbour("10.1.1.11", 65011))
	dials := func(password string) string {
		return strings.ReplaceAll(frrNeighbour("10.2.1.11", 65011, "password "+password, "timers connect 1"), " neighbor 10.2.1.11 passive\n", "")
	}
	f2 := l.frr(two, dials("old"))
	other := Peer{Address: netip.MustParseAddr("10.2.1.1"), ASN: 65000, Password: "old", Port: 1790} // so the router dials
	c := nodeConfig(v4Peer(), other)
	c.Listen = netip.MustParseAddrPort("0.0.0.0:179")
	s := l.speaker(node, c)
	s.set(routes(service...))
	f1.installed(service[0], "10.1.1.11")
	f2.installed(service[0], "10.2.1.11")
	messages := func() string { // FRR's own count of what came from us
		var lines []string
		for line := range strings.Lines(f1.vtysh("show bgp neighbors 10.1.1.11")) {
			switch f := strings.Fields(line); {
			case strings.Contains(line, "Connections established"):
				lines = append(lines, strings.Join(f, " "))
			case strings.Contains(line, "Updates:"): // sent and received
				lines = append(lines, "updates "+f[2])
			}
		}
		return strings.Join(lines, "; ")
	}
	before, since := messages(), s.peer(0).Since
	other.Password = "new"
	c.Peers = []Peer{v4Peer(), other}
	s.update(c)
	until(t, "the router told of the change", func() bool { return strings.Contains(f2.log(), "6/6") })
	f2.stopBGPd()
	f2.configure(dials("new"))
	f2.bgpd()
	until(t, "a session with the new password", func() bool { return s.peer(1).State == "ESTABLISHED" })
	f2.installed(service[0], "10.2.1.11")
	c.Peers = []Peer{v4Peer()}
	s.update(c)
	f2.gone(service[0])
	if got := messages(); got != before || before == "" {
		t.Errorf("the first router counts %q, before %q", got, before)
	}
	c.Communities = []string{"65000:54"}
	s.update(c)
	want := wantFull("10.1.1.11")
	want.Communities = "65000:54"
	f1.expect(service[0], want)
	if got := s.peer(0).Since; !got.Equal(since) {
		t.Error("the first session was touched")
	}
	until(t, "the router told of the removal", func() bool { return strings.Contains(f2.log(), "6/3") })
}

// A peer that is gone keeps nothing running.
func TestUpdateLeavesNothing(t *testing.T) {
	s, c, conns := twoRouters(t, "127.53.5.9", "127.53.5.10")
	gone := s.peers[1]
	c.Peers = c.Peers[:1]
	if err := s.Update(c); err != nil {
		t.Fatal(err)
	}
	conns[1].expect(typeNotification)
	if _, err := conns[1].read(10 * time.Second); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection is not closed: %v", err)
	}
	_ = conns[1].Close()
	until(t, "the peer ended", gone.ended)
	if err := s.Update(c); err != nil {
		t.Fatal(err)
	}
	if len(s.leaving) != 0 {
		t.Errorf("%d peers are remembered", len(s.leaving))
	}
}

// Settings change without a pause while sessions come up: what the router
// holds in the end bears what was set last.
func TestUpdateDuringStart(t *testing.T) {
	router := newRawRouter(t, "127.53.5.11")
	var confs []Config
	for _, extra := range []string{"65000:1", "65000:2", "65000:3"} {
		c := rawConfig(router.peer(65000).with(func(p *Peer) { p.Communities = []string{extra} }))
		c.Communities = []string{"65000:53", strings.Replace(extra, ":", ":10", 1)}
		confs = append(confs, c)
	}
	s := startSpeaker(t, confs[0])
	if err := s.Set(routes("10.1.9.53/32")); err != nil {
		t.Fatal(err)
	}
	for round := range 8 {
		c := router.accept()
		stop := meanwhile(t, func(i int) error { return s.Update(confs[i%len(confs)]) })
		c.establish(65000)
		s.established(0)
		stop()
		last := round % len(confs)
		if err := s.Update(confs[last]); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("{Communities: 65000:53, 65000:10%d, 65000:%d}", last+1, last+1)
		if got := c.lastUpdate(); !strings.Contains(got, want) {
			t.Errorf("round %d: the router ends with %s, want %s", round, got, want)
		}
		_ = c.Close()
		until(t, "session down", func() bool { return s.state(0).State != "ESTABLISHED" })
	}
	for _, line := range s.logs.lines("level=ERROR") {
		t.Error(line)
	}
}

// lastUpdate reads until it is quiet and shows the last UPDATE.
func (c *rawConn) lastUpdate() (last string) {
	c.t.Helper()
	for {
		msg, err := c.read(300 * time.Millisecond)
		if err != nil {
			return last
		}
		if msg[18] != typeUpdate {
			continue
		}
		m, err := bgp.ParseBGPMessage(msg)
		if err != nil {
			c.t.Fatalf("failed to parse UPDATE: %v", err)
		}
		last = show(m.Body.(*bgp.BGPUpdate))
	}
}
