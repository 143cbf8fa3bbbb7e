package lab_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/topology"
)

// history is what a node's agent has decided, oldest first.
func history(t testing.TB, n *topology.Node) (list []control.Event) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(does(t, n, "events", "--json"))); d.More(); {
		var e control.Event
		must(t, d.Decode(&e))
		list = append(list, e)
	}
	return list
}

// since are the events after the first seq ones, and their words on one line.
func since(list []control.Event, seq int) (rest []control.Event, words string) {
	rest = list[min(seq, len(list)):]
	for _, e := range rest {
		words += e.Stance + "(" + e.Reason + ") "
	}
	return rest, words
}

// bounces counts how often the events take the service from something less to
// fully announced.
func bounces(list []control.Event) (n int) {
	for i, e := range list {
		if e.Stance == "announced" && i > 0 && list[i-1].Stance != "announced" {
			n++
		}
	}
	return n
}

// spans are the holds that the events begin.
func spans(list []control.Event) (holds []time.Duration) {
	var until time.Time
	for _, e := range list {
		if e.HoldUntil != nil && !e.HoldUntil.Equal(until) {
			until = *e.HoldUntil
			holds = append(holds, until.Sub(e.At).Round(time.Millisecond))
		}
	}
	return holds
}

// most is how many full returns a hold that doubles from least, up to a limit,
// allows in a time: the return that came before the time began, and one after
// each hold.
func most(d, least, limit time.Duration) int {
	n := 1
	for hold := least; d > 0; hold = min(2*hold, limit) {
		d -= hold
		n++
	}
	return n
}

// holding gives a configuration its holds.
func holding(least, limit time.Duration) func(int, tree) {
	return func(_ int, c tree) {
		service(c, 0)["hold"] = tree{"min": least.String(), "max": limit.String()}
	}
}

// TestRestarts restarts a resolver again and again, a moment after it has come
// back.
func TestRestarts(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		const least, limit = time.Second, 8 * time.Second
		lab := network(t, topology.Options{Router: router, Nodes: 2}, holding(least, limit))
		restarts(t, lab, 8, least, limit)
	})
}

// restarts restarts the first node's resolver, with gaps of 0.5 to 2 s: the
// node does not flap with it, for the hold grows, and the other node serves all
// the time.
func restarts(t testing.TB, lab *topology.Lab, times int, least, limit time.Duration) {
	t.Helper()
	n := lab.Nodes[0]
	settled(t, lab)
	client, begin, seen := askingFor(t, lab, 200, internet()), time.Now(), len(history(t, n))
	covered(t, lab, func() {
		for range times {
			must(t, n.Resolver.Kill())
			must(t, n.Resolver.Start())
			pass(t, 500*time.Millisecond+rand.N(1500*time.Millisecond))
		}
		took := time.Since(begin)
		list, words := since(history(t, n), seen)
		t.Logf("%d restarts in %v, %d full returns, holds %v: %s", times, took.Round(time.Millisecond), bounces(list),
			spans(list), words)
		if got, want := bounces(list), most(took, least, limit); got > want {
			t.Errorf("%d full returns in %v, want at most %d", got, took, want)
		}
		returns(t, lab, limit)
	})
	few(t, client, "a resolver is restarted again and again")
}

// returns waits until all nodes serve, for as long as a hold may last.
func returns(t testing.TB, lab *topology.Lab, limit time.Duration) {
	t.Helper()
	for _, n := range lab.Nodes {
		must(t, topology.Within(t.Context(), limit+4*patience, n.ShortName+" announced", func() (bool, string) {
			st, err := glance(t, n)
			must(t, err)
			return st.Services[0].Stance == "announced", st.Services[0].Reason
		}))
	}
	serving(t, lab)
}

// few ends a client of a service one of whose nodes was never there for long:
// it may lose what was on its way there when it went, each time, which is far
// below a tenth of all.
func few(t testing.TB, client *asker, what string) {
	t.Helper()
	if f := reported(t, client, what); f.Lost+f.Bad > f.Asked/10 {
		t.Errorf("%d of %d questions lost, %d failures", f.Lost, f.Asked, f.Bad)
	}
}

// TestStalls has a resolver stall again and again: three seconds in a minute
// made short, with the holds.
func TestStalls(t *testing.T) {
	t.Parallel()
	const least, limit = time.Second, 16 * time.Second
	lab := network(t, topology.Options{Nodes: 2}, holding(least, limit))
	stalls(t, lab, 6, 1500*time.Millisecond, 4*time.Second, least)
}

// stalls stops the first node's resolver for a moment in every period. Each
// stall that is noticed counts as a leaving, so the hold grows beyond the period:
// from then on no client is sent to the node, and none feels the stalls.
func stalls(t testing.TB, lab *topology.Lab, times int, stall, period, least time.Duration) {
	t.Helper()
	n := lab.Nodes[0]
	settled(t, lab)
	seen := len(history(t, n))
	var hurt []int
	for range times {
		client, begin := askingFor(t, lab, 200, internet()), time.Now()
		st, _ := status(t, n)
		out, before := st.Services[0].Stance != "announced", len(history(t, n))
		must(t, n.Resolver.Stop())
		pass(t, stall)
		must(t, n.Resolver.Cont())
		pass(t, period-time.Since(begin))
		f := client.end()
		hurt = append(hurt, f.Lost+f.Bad+f.Stalled)
		round, words := since(history(t, n), before)
		// A node that takes part hurts a tenth of them; a box short of time, a few.
		if out && bounces(append([]control.Event{{}}, round...)) == 0 && f.Lost+f.Bad+f.Stalled > f.Asked/50 {
			t.Errorf("%d questions lost, %d failures, %d stalled, though the node was out: %s", f.Lost, f.Bad, f.Stalled, words)
		}
	}
	list, words := since(history(t, n), seen)
	t.Logf("%d stalls of %v in %v each: questions lost or more than 1 s late %v, %d full returns, holds %v: %s", times,
		stall, period, hurt, bounces(list), spans(list), words)
	if want := int(math.Log2(float64(2*period/least))) + 1; bounces(list) > want {
		t.Errorf("%d full returns, want at most %d", bounces(list), want)
	}
}
