package agent

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recuse/probe"
)

// run lets time pass.
func (s *sim) run(d time.Duration) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.tick()
		s.skip(end)
	}
}

// checkRest asserts (a), (c) and (d) once everything has come to rest.
func (s *sim) checkRest() {
	before := s.changes
	s.run(20 * time.Second)
	if s.changes != before {
		s.t.Fatalf("(c) still moving\n%s", s.log.String())
	}
	for n, node := range s.nodes {
		whole := node.gone == [2]bool{}
		connected := slices.ContainsFunc(node.heard, func(h *Heard) bool {
			return h != nil
		})
		switch st := node.state.Stance; {
		case node.level == probe.OK && whole && connected && st != Announced:
			s.t.Fatalf("(a) node %d is ok and %s\n%s", n, st, s.log.String())
		case node.level != probe.OK && st == Announced:
			s.t.Fatalf("(a) node %d is %s and %s\n%s", n, node.level, st,
				s.log.String())
		case node.level == probe.Dead && st != Withdrawn:
			s.t.Fatalf("(d) node %d is dead and %s\n%s", n, st, s.log.String())
		}
	}
}

func TestFleet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t)
		s.run(5 * time.Second)
		for range rapid.IntRange(1, 12).Draw(t, "faults") {
			s.fault(t)
			s.run(time.Duration(rapid.IntRange(0, 300).Draw(t, "gap")) *
				simTick)
		}
		// The longest hold, then the waits.
		s.run(simRules.HoldMax + 30*time.Second)
		s.checkRest()
	})
}

// TestFleetYoungSession has the last other node leave while the session of one
// that yielded is too young for its router's silence to count, and the router
// says no End-of-RIB: the withdrawal alone is word enough.
func TestFleetYoungSession(t *testing.T) {
	for manner, name := range []string{"sends back", "spares the origin"} {
		s := makeSim(t, 2, []*simRouter{{manner: manner, mute: true,
			delay: []time.Duration{simTick, simTick}}})
		s.run(10 * time.Second)
		s.nodes[0].level = probe.Sick
		for s.nodes[0].state.Phase != Down {
			s.run(simTick)
		}
		s.disconnect(0, 0)
		s.run(simTick)
		s.connect(0, 0)
		s.run(time.Second)
		s.nodes[1].level = probe.Dead
		s.run(500 * time.Millisecond)
		if got := s.nodes[0].state.Stance; got != Depreferred {
			t.Errorf("%s: the node that yielded is %s\n%s", name, got,
				s.log.String())
		}
	}
}
