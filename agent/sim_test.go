package agent

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"recuse/probe"
)

// This file plays one to five nodes and one or two routers through random
// faults and asserts what the whole must do (design section 3):
//
//	(a) while any node is ok and out of hold, after quiescence only ok nodes
//	    are fully announced, and that one is;
//	(b) while any node is sick or better, no router that it has a session with
//	    is without a route for any prefix for longer than the routers' delay
//	    plus one second;
//	(c) without an outside event nothing changes after quiescence;
//	(d) a node that is dead is not announced after quiescence.

// simTick is the resolution of the simulation.
const simTick = 20 * time.Millisecond

// simRules have a shorter hold, so that a run comes to rest sooner.
var simRules = func() Rules {
	r := testRules
	r.HoldMax = 20 * time.Second
	return r
}()

// Manners of a router towards its nodes.
const (
	sendsBack    = iota // its best path to everybody, the origin included (FRR)
	sparesOrigin        // its best path to everybody but the origin (BIRD)
	sendsNothing
	stripsMarks
	manners
)

// simPrefixes are the two families.
var simPrefixes = []netip.Prefix{addr4, addr6}

// simNode is one node.
type simNode struct {
	id    netip.Addr
	level probe.Level
	gone  [2]bool // address missing, by family
	state State
	wake  time.Time   // when it wants to decide again
	heard []*Heard    // by router; nil without a session
	from  []time.Time // of the session, by router
	last  []time.Time // message of the router, by router
}

// simRouter is one router: what it knows of each node, by family.
type simRouter struct {
	manner int
	mute   bool // says no End-of-RIB
	routes [][2]Stance
	best   [2]simBest
	delay  []time.Duration // to and from each node
}

// simBest is a router's best path: the mark that nodes see.
type simBest struct {
	node   int // -1 for none
	stance Stance
}

// simMessage is an UPDATE under way.
type simMessage struct {
	at             time.Time
	router, node   int
	toNode, endRIB bool
	session        time.Time // of which it is a part
	stance         [2]Stance
	best           [2]simBest
}

// fataler is what the simulation needs of a test.
type fataler interface {
	Fatalf(format string, args ...any)
}

// sim is the whole.
type sim struct {
	t       fataler
	now     time.Time
	nodes   []*simNode
	routers []*simRouter
	flight  []simMessage
	without map[[2]int]time.Time // (router, family): since when it has no route
	changes int                  // of any node's stance
	log     strings.Builder
}

// newSim draws nodes and routers, all at rest and nothing announced.
func newSim(t *rapid.T) *sim {
	nodes := rapid.IntRange(1, 5).Draw(t, "nodes")
	var routers []*simRouter
	for r := range rapid.IntRange(1, 2).Draw(t, "routers") {
		rt := &simRouter{manner: rapid.IntRange(0, manners-1).Draw(t,
			fmt.Sprintf("manner%d", r)),
			mute: rapid.Bool().Draw(t, fmt.Sprintf("mute%d", r))}
		for range nodes {
			rt.delay = append(rt.delay, time.Duration(rapid.IntRange(0, 25).
				Draw(t, "delay"))*simTick)
		}
		routers = append(routers, rt)
	}
	return makeSim(t, nodes, routers)
}

// makeSim connects that many nodes with the routers.
func makeSim(t fataler, nodes int, routers []*simRouter) *sim {
	s := &sim{t: t, now: t0, without: map[[2]int]time.Time{}, routers: routers}
	for _, rt := range routers {
		rt.routes = make([][2]Stance, nodes)
		rt.best = [2]simBest{{node: -1}, {node: -1}}
	}
	for n := range nodes {
		s.nodes = append(s.nodes, &simNode{level: probe.OK,
			id:    netip.AddrFrom4([4]byte{192, 0, 2, byte(n + 1)}),
			state: State{Since: t0}, heard: make([]*Heard, len(routers)),
			from: make([]time.Time, len(routers)),
			last: make([]time.Time, len(routers))})
		for r := range routers {
			s.connect(n, r)
		}
	}
	return s
}

// connect brings a session up: the node sends what it announces, the router
// its best paths and then End-of-RIB.
func (s *sim) connect(n, r int) {
	node := s.nodes[n]
	node.heard[r] = &Heard{Full: map[netip.Prefix][]netip.Addr{}}
	node.from[r], node.last[r] = s.now, s.now
	s.tell(n, r)
	s.show(r, n, !s.routers[r].mute)
}

// disconnect takes a session down; both ends forget at once.
func (s *sim) disconnect(n, r int) {
	s.nodes[n].heard[r] = nil
	s.routers[r].routes[n] = [2]Stance{}
	s.rank(r)
}

// announced is what a node announces, by family.
func (s *sim) announced(n int) (out [2]Stance) {
	node := s.nodes[n]
	for f := range out {
		if !node.gone[f] {
			out[f] = node.state.Stance
		}
	}
	return out
}

// tell sends a node's routes to a router.
func (s *sim) tell(n, r int) {
	if s.nodes[n].heard[r] == nil {
		return
	}
	s.send(simMessage{router: r, node: n, stance: s.announced(n)})
}

// show sends a router's best paths to a node.
func (s *sim) show(r, n int, endRIB bool) {
	if s.nodes[n].heard[r] == nil {
		return
	}
	s.send(simMessage{router: r, node: n, toNode: true, endRIB: endRIB,
		best: s.routers[r].best})
}

// send puts a message on its way.
func (s *sim) send(m simMessage) {
	m.at = s.now.Add(s.routers[m.router].delay[m.node])
	m.session = s.nodes[m.node].from[m.router]
	s.flight = append(s.flight, m)
}

// deliver hands over what is due, in order, unless its session is gone.
func (s *sim) deliver() {
	due := s.flight
	s.flight = nil
	for _, m := range due {
		node := s.nodes[m.node]
		switch {
		case node.heard[m.router] == nil || node.from[m.router] != m.session:
		case m.at.After(s.now):
			s.flight = append(s.flight, m)
		case m.toNode:
			s.hear(m)
		default:
			s.routers[m.router].routes[m.node] = m.stance
			s.rank(m.router)
		}
	}
}

// hear is a node's receipt of a router's best paths.
func (s *sim) hear(m simMessage) {
	node, manner := s.nodes[m.node], s.routers[m.router].manner
	h := node.heard[m.router]
	node.last[m.router] = s.now
	if m.endRIB {
		h.EndOfRIB = s.now
	}
	for f, prefix := range simPrefixes {
		if len(h.Full[prefix]) > 0 && !slices.Contains(h.Gone, prefix) {
			h.Gone = append(h.Gone, prefix)
		}
		delete(h.Full, prefix)
		b := m.best[f]
		if b.node < 0 || manner == sendsNothing || manner == stripsMarks ||
			manner == sparesOrigin && b.node == m.node {
			continue
		}
		h.Marked = true
		if b.stance == Announced && b.node != m.node {
			h.Full[prefix] = []netip.Addr{s.nodes[b.node].id}
			h.Gone = slices.DeleteFunc(h.Gone, func(p netip.Prefix) bool {
				return p == prefix
			})
		}
	}
}

// rank chooses a router's best paths and shows changes to every node.
func (s *sim) rank(r int) {
	rt, before := s.routers[r], s.routers[r].best
	for f := range rt.best {
		rt.best[f] = simBest{node: -1}
		for n, routes := range rt.routes {
			if routes[f] > rt.best[f].stance {
				rt.best[f] = simBest{n, routes[f]}
			}
		}
	}
	if rt.best != before {
		for n := range s.nodes {
			s.show(r, n, false)
		}
	}
}

// silenceEnds is when a node takes its silence for the End-of-RIB of a router
// that says none, as package bgp does; zero for never.
func (s *sim) silenceEnds(n, r int) time.Time {
	node := s.nodes[n]
	if h := node.heard[r]; h == nil || !h.EndOfRIB.IsZero() {
		return time.Time{}
	}
	return earliest(node.last[r].Add(3*time.Second),
		node.from[r].Add(15*time.Second))
}

// fallSilent lets every silence that is over count.
func (s *sim) fallSilent() {
	for n, node := range s.nodes {
		for r, h := range node.heard {
			end := s.silenceEnds(n, r)
			if s.routers[r].mute && !end.IsZero() && !s.now.Before(end) {
				h.EndOfRIB = s.now
			}
		}
	}
}

// skip goes to the next moment at which anything can happen, but not beyond
// end: the nodes are woken when they said, and not otherwise.
func (s *sim) skip(end time.Time) {
	next := end
	for _, m := range s.flight {
		next = earliest(next, m.at)
	}
	for n, node := range s.nodes {
		next = earliest(next, node.wake)
		for r := range s.routers {
			next = earliest(next, s.silenceEnds(n, r))
		}
	}
	s.now = latest(next, s.now.Add(simTick))
}

// latest is the later of two moments.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// tick lets every node decide until it rests. The routes are looked at before
// and after: before, for how long the state that now ends has lasted.
func (s *sim) tick() {
	s.checkRoutes()
	s.deliver()
	s.fallSilent()
	for n, node := range s.nodes {
		before := s.announced(n)
		for range 8 {
			next, o := Decide(simRules, node.state, s.inputs(node))
			node.wake = o.Wake
			if next == node.state {
				break
			}
			node.state = next
		}
		if after := s.announced(n); after != before {
			s.changes++
			fmt.Fprintf(&s.log, "%s node %d: %v -> %v (%s, %s)\n",
				s.now.Sub(t0), n, before, after, node.state.Reason, node.level)
			for r := range s.routers {
				s.tell(n, r)
			}
		}
	}
	s.checkRoutes()
}

// inputs are what a node decides from: its link obeys at once, and a resolver
// that is not dead answers something.
func (s *sim) inputs(node *simNode) Inputs {
	var peers []Heard
	for _, h := range node.heard {
		if h != nil {
			peers = append(peers, *h)
		}
	}
	in := Inputs{Now: s.now, Jitter: float64(node.id.As4()[3]) / 5,
		Opinion:    Opinion{Level: node.level, Ready: node.level == probe.OK},
		Others:     Look(s.now, peers, simPrefixes),
		LinkExists: true, LinkUp: node.state.Phase != Down,
		Addresses: 2}
	for f := range simPrefixes {
		if node.gone[f] || !in.LinkUp {
			continue
		}
		in.Present++
		if node.level != probe.Dead {
			in.Alive++
		}
		if node.level == probe.OK || node.level == probe.Slow {
			in.Answered++
		}
	}
	return in
}

// checkRoutes asserts (b).
func (s *sim) checkRoutes() {
	for r, rt := range s.routers {
		for f := range simPrefixes {
			key := [2]int{r, f}
			able, slack := s.able(r, f)
			if rt.best[f].node >= 0 || !able {
				delete(s.without, key)
				continue
			}
			if _, ok := s.without[key]; !ok {
				s.without[key] = s.now
			}
			if d := s.now.Sub(s.without[key]); d > slack {
				s.t.Fatalf("(b) router %d has no route for %s since %s\n%s",
					r, simPrefixes[f], d, s.log.String())
			}
		}
	}
}

// able tells whether a node can serve a prefix through a router, and how long
// it may take: the way there and back, and a second. Where the router does not
// show others, the node waits until it knows that it will not be told.
func (s *sim) able(r, f int) (bool, time.Duration) {
	slack, able := time.Duration(0), false
	for n, node := range s.nodes {
		h := node.heard[r]
		if h == nil || node.level == probe.Dead || node.gone[0] || node.gone[1] {
			continue
		}
		wait := 2*s.routers[r].delay[n] + time.Second
		if !h.Marked {
			wait += startAlone
		}
		silent := !slices.Contains(h.Gone, simPrefixes[f])
		if silent && (h.EndOfRIB.IsZero() ||
			s.now.Sub(h.EndOfRIB) < silenceCounts) {
			continue // its silence does not count yet
		}
		if !able || wait < slack {
			able, slack = true, wait
		}
	}
	return able, slack
}

// fault changes one thing.
func (s *sim) fault(t *rapid.T) {
	n := rapid.IntRange(0, len(s.nodes)-1).Draw(t, "node")
	node := s.nodes[n]
	r := rapid.IntRange(0, len(s.routers)-1).Draw(t, "router")
	what := rapid.IntRange(0, 9).Draw(t, "fault")
	switch {
	case what < 7:
		node.level = rapid.SampledFrom([]probe.Level{probe.OK, probe.OK,
			probe.Slow, probe.Sick, probe.Dead}).Draw(t, "level")
	case what == 7:
		f := rapid.IntRange(0, 1).Draw(t, "family")
		node.gone[f] = !node.gone[f]
		for r := range s.routers {
			s.tell(n, r)
		}
	case node.heard[r] == nil:
		s.connect(n, r)
	default:
		s.disconnect(n, r)
	}
	fmt.Fprintf(&s.log, "%s fault %d of node %d router %d: level %s gone %v\n",
		s.now.Sub(t0), what, n, r, node.level, node.gone)
	clear(s.without) // the bound counts from the last outside event
}
