package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// The phases of every run, in order.
const (
	Calm   = "calm"
	Action = "action" // the fault is being made
	Fault  = "fault"
	Revert = "revert" // it is being undone
	After  = "after"  // calm again, until all serve as before
)

// Scenario is one thing that goes wrong, or nothing.
type Scenario struct {
	Name  string
	Title string // in a line, for a list and a report

	Needs Needs
	Load  []Load // what the clients ask; none: the household mix over UDP

	// Lengths of the phases that last; zero: Calm 10 s, Fault 30 s, After 15 s.
	Calm, Fault, After Length

	// Applies says why the scenario means nothing on a setup; nil means it does
	// on every one.
	Applies func(result.Setup) error
	// Prepare changes the bench before anybody asks.
	Prepare func(context.Context, *Run) error
	// Act makes the fault. An error that is bench.ErrUnsupported, here and in the
	// other functions, leaves the scenario out; any other ends the run.
	Act func(context.Context, *Run) error
	// During goes on making it until the fault phase is over, which ctx tells.
	During func(context.Context, *Run) error
	// Undo reverts it.
	Undo func(context.Context, *Run) error
	// Tell adds the scenario's own measurements to the run's notes.
	Tell func(*Run)
	// Proof says what must be true if the fault met those it was meant for.
	Proof func(*Run) []result.Proof
}

// Needs are what a bench must be raised with.
type Needs struct {
	ServeStale bool          // the resolvers answer from expired cache
	MaxTTL     time.Duration // how long they keep a name at most; 0: as long as it says
	Clients    int           // how many at least; 0: as the run has it
}

// Load is what some of the clients ask, and how.
type Load struct {
	Mix       load.Mix       // household if empty
	Transport load.Transport // UDP if empty
}

// Length is how long a phase lasts.
type Length struct {
	Full  time.Duration // at scale 1
	Least time.Duration // however small the scale: what the fault itself takes to be felt
}

// at is the length at a scale.
func (l Length) at(scale float64) time.Duration {
	return max(time.Duration(scale*float64(l.Full)), l.Least)
}

// or is the length, or d if there is none.
func (l Length) or(d Length) Length {
	if l == (Length{}) {
		return d
	}
	return l
}

// The usual lengths. A fault lasts at least until BFD, a silent resolver
// (silent_after) and a yield (yield_wait) have had their time.
var (
	usualCalm  = Length{10 * time.Second, 3 * time.Second}
	usualFault = Length{30 * time.Second, 6 * time.Second}
	usualAfter = Length{15 * time.Second, 3 * time.Second}
)

// All are the scenarios, the harmless first.
func All() []Scenario {
	return []Scenario{
		steady(),
		resolverRestart(), resolverStopped(), flapping(),
		nodeKilled(), nodeFrozen(), allDead(),
		wanDown(false), wanDown(true),
		noLAN(false), noLAN(true), allNoLAN(),
		slow30(), slow200(), slow1800(), allSlow(),
		routerReboot(), agentKilled(), agentUpgraded(), drain(),
		tcpFlows(), nodeAdded(false), nodeAdded(true), dropsClients(),
	}
}

// Names are those of all scenarios.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// ByName finds scenarios, in the order asked; none asked: all. An error names
// what is unknown and what there is.
func ByName(names ...string) ([]Scenario, error) {
	all := All()
	if len(names) == 0 {
		return all, nil
	}
	var found []Scenario
	for _, name := range names {
		i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("scenario %q: must be one of %s", name, strings.Join(Names(), ", "))
		}
		found = append(found, all[i])
	}
	return found, nil
}

// applies says why the scenario means nothing on a setup, if so.
func (s Scenario) applies(to result.Setup) error {
	if s.Applies == nil {
		return nil
	}
	return s.Applies(to)
}

// onlyAnycast is Applies for what only a design with agents has.
func onlyAnycast(what string) func(result.Setup) error {
	return func(s result.Setup) error {
		if s.Design == Anycast {
			return nil
		}
		return fmt.Errorf("the design %s has no %s", s.Design, what)
	}
}

// The designs, as result.Setup spells them.
const (
	Baseline = "baseline"
	Relay    = "relay"
	Anycast  = "anycast"
)
