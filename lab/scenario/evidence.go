package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/result"
)

// before names the phase before each, whose end is the phase's begin.
var before = map[string]string{Calm: "", Action: Calm, Fault: Action, Revert: Fault, After: Revert}

// traffic is what passed a node's wire from the begin of one phase to the end of
// another.
func (r *Run) traffic(n bench.Node, first, last string) bench.Traffic {
	from, to := r.looks[before[first]].traffic[n.Name()], r.looks[last].traffic[n.Name()]
	return bench.Traffic{Queries: to.Queries - from.Queries, Answers: to.Answers - from.Answers,
		Dropped: to.Dropped - from.Dropped}
}

// zone is what a zone was asked, and failed to answer, in a phase.
func (r *Run) zone(apex, phase string) authority.Zone {
	from, to := r.looks[before[phase]].zones[apex], r.looks[phase].zones[apex]
	return authority.Zone{Behaviour: to.Behaviour, Queries: to.Queries - from.Queries, Failed: to.Failed - from.Failed}
}

// answersOf counts the answers that bear a node's name.
func answersOf(records []load.Record, n bench.Node) int {
	count := 0
	for _, rec := range records {
		if !rec.Lost() && rec.Node == n.Name() {
			count++
		}
	}
	return count
}

// wasCalm is the proof that nothing was wrong before the fault.
func (r *Run) wasCalm() result.Proof {
	f := load.Summarize(r.undisturbed())
	return result.Proof{Claim: "nothing was wrong before the fault", Holds: f.Asked > 0 && f.Lost+f.Bad+f.Stalled == 0,
		Evidence: fmt.Sprintf("of %d questions in the calm %d were lost, %d answered with a failure, %d stalled",
			f.Asked, f.Lost, f.Bad, f.Stalled)}
}

// inFlight is for how long a question may be under way on a busy box, and be met
// by a fault that was made after it was asked.
const inFlight = 250 * time.Millisecond

// undisturbed are the questions of the calm that no later fault can have met.
func (r *Run) undisturbed() []load.Record {
	calm := r.phase(Calm)
	return load.Window(r.records, calm.From, calm.To.Add(-inFlight))
}

// served is the proof that a node served the clients before the fault.
func (r *Run) served(n bench.Node) result.Proof {
	calm := r.within(Calm, Calm)
	answers, wire := answersOf(calm, n), r.traffic(n, Calm, Calm)
	return result.Proof{Claim: n.Name() + " served the clients before the fault", Holds: answers > 0 && wire.Queries > 0,
		Evidence: fmt.Sprintf("%d of %d questions were answered in its name; its wire saw %d queries and %d answers",
			answers, len(calm), wire.Queries, wire.Answers)}
}

// silent is the proof that a node said nothing while the fault lasted.
func (r *Run) silent(n bench.Node) result.Proof {
	wire, answers := r.traffic(n, Fault, Fault), answersOf(r.felt(), n)
	p := result.Proof{Claim: n.Name() + " answered nobody during the fault", Holds: wire.Answers == 0 && answers == 0,
		Evidence: fmt.Sprintf("its wire saw %d queries and %d answers; %d questions of that time were answered in its name",
			wire.Queries, wire.Answers, answers)}
	if r.caches() {
		p.Holds = wire.Answers == 0
		p.Evidence += ", from the relay's cache"
	}
	return p
}

// caches reports whether something before the nodes answers in their names.
func (r *Run) caches() bool { return r.Bench.Relay() != nil }

// felt are the questions asked during the fault that ended before it did: an
// answer to one that waited longer is the revert's.
func (r *Run) felt() []load.Record {
	end := r.phase(Fault).To
	return slices.DeleteFunc(slices.Clone(r.within(Fault, Fault)), func(rec load.Record) bool {
		return rec.Ended.After(end)
	})
}

// gone is the proof that a daemon ran before the fault and not at its end.
func (r *Run) gone(d bench.Daemon) result.Proof {
	was, is := r.looks[Calm].running[d.Name()], r.looks[Fault].running[d.Name()]
	return result.Proof{Claim: d.Name() + " was gone during the fault", Holds: was && !is,
		Evidence: fmt.Sprintf("by the kernel's process table, it %s at the end of the calm and %s at the end of the fault",
			runs(was), runs(is))}
}

// runs says whether something runs.
func runs(yes bool) string {
	if yes {
		return "ran"
	}
	return "did not run"
}

// failed is the proof that a zone failed to answer somebody during the fault,
// and nobody before.
func (r *Run) failed(apex string) result.Proof {
	calm, acted, fault := r.zone(apex, Calm), r.zone(apex, Action), r.zone(apex, Fault)
	n := acted.Failed + fault.Failed
	return result.Proof{Claim: apex + " failed during the fault", Holds: calm.Failed == 0 && n > 0,
		Evidence: fmt.Sprintf("its authority left %d of %d queries unanswered, and %d of %d before",
			n, acted.Queries+fault.Queries, calm.Failed, calm.Queries)}
}

// late is the proof that a node answered late during the fault, and not before:
// at least share of what it answered took d or longer on the way there and back.
func (r *Run) late(n bench.Node, d time.Duration, share float64) result.Proof {
	calm, _ := slower(r.undisturbed(), n, d)
	late, all := slower(r.within(Action, Fault), n, d)
	if r.caches() {
		share = 0 // what the relay answers by itself is in time
	}
	return result.Proof{Claim: fmt.Sprintf("%s answered late, by %s, during the fault", n.Name(), d),
		Holds: calm == 0 && late > 0 && float64(late) >= share*float64(all),
		Evidence: fmt.Sprintf("%d of its %d answers took that long, and %d before",
			late, all, calm)}
}

// slower counts a node's answers that took d or longer since they were asked
// for, and all of its answers; repeated questions do not count, since nobody
// knows which of them was answered.
func slower(records []load.Record, n bench.Node, d time.Duration) (late, all int) {
	for _, rec := range records {
		if rec.Lost() || rec.Node != n.Name() || rec.Attempts != 1 {
			continue
		}
		all++
		if rec.Ended.Sub(rec.Sent) >= d {
			late++
		}
	}
	return late, all
}

// left is the proof that a node was out of the router's kernel at the end of
// the fault.
func (r *Run) left(n bench.Node) result.Proof {
	was := slices.Contains(r.looks[Calm].hops, n.Name())
	is := slices.Contains(r.looks[Fault].hops, n.Name())
	return result.Proof{Claim: n.Name() + " was taken out of the router", Holds: was && !is,
		Evidence: fmt.Sprintf("the kernel's next hops were %s at the end of the calm and %s at the end of the fault",
			list(r.looks[Calm].hops), list(r.looks[Fault].hops))}
}

// list joins names for people.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// witnessed is what was seen while the fault was made; it does not hold if
// nobody saw it.
func (r *Run) witnessed(claim string) result.Proof {
	if p, ok := r.seen[claim]; ok {
		return p
	}
	return result.Proof{Claim: claim, Evidence: "nobody saw it"}
}
