package scenario

import (
	"fmt"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// steady is the control: what every other run's figures stand against. Whatever
// is lost here is lost by the lab.
func steady() Scenario {
	return Scenario{
		Name: "steady", Title: "nothing goes wrong",
		Fault: Length{time.Minute, 6 * time.Second},
		Proof: func(r *Run) []result.Proof {
			return []result.Proof{r.served(r.Node), r.nothingLost(), r.nothingMoved()}
		},
	}
}

// nothingLost is the proof that every question of the run was answered well.
func (r *Run) nothingLost() result.Proof {
	f := load.Summarize(r.within(Calm, After))
	return result.Proof{Claim: "every question was answered", Holds: f.Asked > 0 && f.Lost+f.Bad+f.Stalled == 0,
		Evidence: fmt.Sprintf("of %d questions %d were lost, %d answered with a failure, %d stalled",
			f.Asked, f.Lost, f.Bad, f.Stalled)}
}

// nothingMoved is the proof that the router's next hops stayed as they were.
func (r *Run) nothingMoved() result.Proof {
	changes := 0
	for _, e := range r.routes() {
		if e.At.After(r.phase(Calm).From) {
			changes++
		}
	}
	return result.Proof{Claim: "no route changed", Holds: changes == 0,
		Evidence: fmt.Sprintf("the router's kernel told of %d changes of its next hops, which were %s at the end",
			changes, list(r.looks[After].hops))}
}
