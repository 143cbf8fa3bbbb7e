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

// setup is the bench's with what is the run's.
func (r *Run) setup() result.Setup {
	s := r.Bench.Setup()
	s.Stub, s.Rate, s.Scale = r.options.Stub.Name, r.options.Rate, r.options.Scale
	return s
}

// head is what every result says, however the run went.
func (r *Run) head() result.Run {
	return result.Run{ID: r.options.ID, Scenario: r.scenario.Name, Title: r.scenario.Title,
		Setup: r.setup(), Started: r.started, Took: time.Since(r.started), Machine: result.Here()}
}

// leftOut is the result of a scenario that cannot be on this bench.
func (r *Run) leftOut(why error) result.Run {
	out := r.head()
	out.LeftOut = why.Error()
	return out
}

// result is what the run amounts to.
func (r *Run) result(ctx context.Context) result.Run {
	out := r.head()
	if r.scenario.Tell != nil {
		r.scenario.Tell(r)
	}
	out.Phases, out.Notes = r.phases, append(r.moves(), r.notes...)
	out.Events = slices.SortedStableFunc(slices.Values(r.events), func(a, b result.Event) int {
		return a.At.Compare(b.At)
	})
	out.Figures = load.Summarize(r.within(Calm, After), r.downs...)
	out.ByPhase = map[string]load.Figures{}
	for _, p := range r.phases {
		out.ByPhase[p.Name] = load.Summarize(r.within(p.Name, p.Name), r.downs...)
	}
	out.Machine.Versions = r.Bench.Versions(ctx)
	out.Settings = append(r.Bench.Settings(), r.settings()...)
	out.Proof = append([]result.Proof{r.wasCalm()}, r.scenario.Proof(r)...)
	out.Void = void(out)
	return out
}

// void says why a run says nothing; "" if it counts.
func void(r result.Run) string {
	var why []string
	for _, p := range r.Proof {
		if !p.Holds {
			why = append(why, fmt.Sprintf("not so: %s: %s", p.Claim, p.Evidence))
		}
	}
	if r.Figures.Void != "" {
		why = append(why, r.Figures.Void)
	}
	return strings.Join(why, "; ")
}

// settings are those of the load that the setup does not tell.
func (r *Run) settings() []string {
	line := fmt.Sprintf("%d clients", r.Bench.Clients())
	if len(r.scenario.Load) == 0 {
		return []string{line + " with the household mix over " + string(transport(r.options.Transport))}
	}
	var parts []string
	for _, l := range r.scenario.Load {
		mix := "the household mix"
		if len(l.Mix) > 0 {
			mix = strings.Join(l.Mix, ", ")
		}
		parts = append(parts, mix+" over "+string(transport(l.Transport)))
	}
	return []string{line + " with " + strings.Join(parts, "; and ")}
}

// transport is the one that an empty one stands for.
func transport(t load.Transport) load.Transport {
	if t == "" {
		return load.UDP
	}
	return t
}

// phase is a phase by its name; zero if the run did not get there.
func (r *Run) phase(name string) result.Phase {
	for _, p := range r.phases {
		if p.Name == name {
			return p
		}
	}
	return result.Phase{}
}

// within are the records meant to be asked from the begin of one phase to the
// end of another.
func (r *Run) within(first, last string) []load.Record {
	return load.Window(r.records, r.phase(first).From, r.phase(last).To)
}
