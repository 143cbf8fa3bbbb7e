package bgp

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/bgp/bfd"
)

// How long BGP waits for BFD.
func TestStandingWait(t *testing.T) {
	began := time.Unix(1000, 0)
	tests := []struct {
		name   string
		s      standing
		strict bool
		after  time.Duration
		want   time.Duration
	}{
		{"up", standing{up: true}, false, 0, 0},
		{"up, strict", standing{up: true}, true, 0, 0},
		{"just begun", standing{}, false, 0, patience},
		{"a while ago", standing{}, false, 2 * time.Second, 3 * time.Second},
		{"long enough", standing{}, false, patience, 0},
		{"long ago", standing{}, false, time.Hour, 0},
		{"strict", standing{}, true, patience, strictPatience - patience},
		{"strict, long enough", standing{}, true, strictPatience, 0},
		{"taken down by the router", standing{barred: true}, false, 0, 0},
		{"taken down by the router, strict", standing{barred: true}, true, 0, 0},
		{"could not be made", standing{absent: true}, false, 0, 0},
		{"could not be made, strict", standing{absent: true}, true, 0, strictPatience},
		{"follows BGP", standing{follows: true}, false, 0, 0},
		{"follows BGP, strict", standing{follows: true}, true, 0, strictPatience},
	}
	for _, tt := range tests {
		tt.s.since = began
		if got := tt.s.wait(tt.strict, began.Add(tt.after)); got != tt.want {
			t.Errorf("%s: wait %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Which transitions close BGP (RFC 5882, sections 3.2 and 10.2).
func TestLost(t *testing.T) {
	tests := []struct {
		e    bfd.Event
		want bool
	}{
		{bfd.Event{From: bfd.Up, To: bfd.Down, Reason: bfd.ReasonExpired}, true},
		{bfd.Event{From: bfd.Up, To: bfd.Down, Reason: bfd.ReasonPeerDown}, true},
		{bfd.Event{From: bfd.Up, To: bfd.Down, Reason: bfd.ReasonPeerAdminDown}, false},
		{bfd.Event{From: bfd.Up, To: bfd.AdminDown, Reason: bfd.ReasonDisabled}, false},
		{bfd.Event{From: bfd.Init, To: bfd.Down, Reason: bfd.ReasonExpired}, false},
		{bfd.Event{From: bfd.Down, To: bfd.Up, Reason: bfd.ReasonHears}, false},
	}
	for _, tt := range tests {
		if got := lost(tt.e); got != tt.want {
			t.Errorf("%v: lost = %t", tt.e, got)
		}
	}
}

// What BFD sessions go with what BGP session.
func TestStrands(t *testing.T) {
	gtsm := v4Peer().with(func(p *Peer) { p.TTLSecurity = true })
	far := v4Peer().with(func(p *Peer) { p.Multihop = 3 })
	on := v4Peer().with(func(p *Peer) { p.Interface, p.LocalAddress = "e0", netip.MustParseAddr("10.1.1.11") })
	local := Peer{Address: netip.MustParseAddr("fe80::b"), Interface: "e0", TTLSecurity: true}.withDefaults()
	b := BFD{Interval: 50 * time.Millisecond, Multiplier: 5}
	config := func(p Peer, f func(*bfd.Config)) bfd.Config {
		c := bfd.Config{Peer: p.Address, DesiredMinTx: b.Interval, RequiredMinRx: b.Interval, Multiplier: 5}
		f(&c)
		return c
	}
	single := func(*bfd.Config) {}
	tests := []struct {
		name     string
		peer     Peer
		external bool
		want     []bfd.Config
	}{
		{"plain", v4Peer(), true, []bfd.Config{config(v4Peer(), single)}},
		{"iBGP", v4Peer(), false, []bfd.Config{config(v4Peer(), single)}},
		{"GTSM", gtsm, true, []bfd.Config{config(gtsm, single), config(gtsm, func(c *bfd.Config) { c.Multihop, c.MinTTL = true, 255 })}},
		{"GTSM on iBGP", gtsm, false, []bfd.Config{config(gtsm, single)}},
		{"several hops", far, true, []bfd.Config{config(far, func(c *bfd.Config) { c.Multihop = true })}},
		{"interface", on, true, []bfd.Config{config(on, func(c *bfd.Config) { c.Interface, c.Local = "e0", on.LocalAddress })}},
		{"link-local", local, true, []bfd.Config{config(local, func(c *bfd.Config) { c.Interface = "e0" })}},
	}
	for _, tt := range tests {
		var got []bfd.Config
		for _, multihop := range tt.peer.strandKinds(tt.external) {
			got = append(got, tt.peer.strand(b, multihop))
		}
		if diff := cmp.Diff(tt.want, got, compareAddrs); diff != "" {
			t.Errorf("%s: unexpected sessions (-want +got):\n%s", tt.name, diff)
		}
	}
}

// BFD that was never up beside BGP is worth more words.
func TestBFDWords(t *testing.T) {
	const trouble = "the peer was never heard"
	tests := []struct {
		trouble            string
		risen, established bool
		want               string
	}{
		{"", false, true, ""},
		{trouble, false, false, trouble},
		{trouble, true, true, trouble},
		{trouble, false, true, "never came up beside an established BGP session: " + trouble},
	}
	for _, tt := range tests {
		if got := bfdWords(tt.trouble, tt.risen, tt.established); got != tt.want {
			t.Errorf("words %q, want %q", got, tt.want)
		}
	}
}

// After a refusal BFD is no reason to hurry.
func TestEager(t *testing.T) {
	var patient []ending
	for e := endUnreached; e <= endLost; e++ {
		if !e.eager() {
			patient = append(patient, e)
		}
	}
	if want := []ending{endRefused, endBroken, endLimit}; !slices.Equal(patient, want) {
		t.Errorf("patient after %v, want %v", patient, want)
	}
}

// No peer with BFD, no engine and no socket.
func TestNoBFDNoEngine(t *testing.T) {
	router := newRawRouter(t, "127.53.6.1")
	s := startSpeaker(t, rawConfig(router.peer(65000)))
	c := router.accept()
	c.establish(65000)
	s.established(0)
	s.beat.mu.Lock()
	defer s.beat.mu.Unlock()
	if s.beat.engine != nil || s.state(0).BFD != nil {
		t.Error("there is BFD")
	}
}
