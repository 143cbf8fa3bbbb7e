package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// Bounds of a run's lists.
const (
	maxProofs   = 25
	maxLines    = 50  // of notes, of settings
	maxEvidence = 600 // characters of one piece of evidence
)

// runView is a run on the page.
type runView struct {
	ref
	Scenario, Title, Label string
	Started                string
	When, Setup            string
	Why                    []string // void
	LeftOut                string
	Sums                   []meaning
	Picture                *picture
	Trouble                string // why there is no picture
	Proofs                 []proof
	MoreProofs             int // not listed
	Notes                  []string
	Phases                 []phaseLine
	Settings               []string
	Dir                    string
}

// proof is a piece of evidence.
type proof struct {
	Holds           bool
	Claim, Evidence string
}

// phaseLine is the figures of one phase.
type phaseLine struct {
	Name                                                              string
	Asked, Lost, Bad, Stalled, Outage, Gap, P50, P95, P99, Max, Nodes string
}

// newRunView lays out a run and draws its picture.
func newRunView(r numbered, records func(result.Run) ([]load.Record, error)) runView {
	v := runView{ref: refOf(r), Scenario: clean(r.Scenario), Title: cut(clean(r.Title), maxText), Label: r.label,
		Started: r.Started.UTC().Format(time.RFC3339), When: r.Started.UTC().Format("2006-01-02 15:04:05") + " UTC",
		Setup: describe(r.Setup), Notes: texts(r.Notes), Settings: texts(r.Settings), Dir: clean(r.ID)}
	if r.LeftOut != "" {
		v.LeftOut = cut(clean(r.LeftOut), maxEvidence)
		return v
	}
	v.When += ", took " + seconds(r.Took)
	v.Why = texts(r.void)
	v.Sums = sums(r.Figures)
	for _, p := range r.Proof[:min(len(r.Proof), maxProofs)] {
		v.Proofs = append(v.Proofs, proof{p.Holds, cut(clean(p.Claim), maxText), cut(clean(p.Evidence), maxEvidence)})
	}
	v.MoreProofs = len(r.Proof) - len(v.Proofs)
	v.Phases = phaseLines(r.Run)
	loaded, err := records(r.Run)
	if err != nil {
		v.Trouble = cut(clean(err.Error()), maxEvidence)
		return v
	}
	p := newPicture(r.Run, loaded)
	v.Picture = &p
	return v
}

// texts cleans and bounds a list.
func texts(all []string) []string {
	var out []string
	for i, s := range all {
		if i == maxLines {
			return append(out, fmt.Sprintf("… and %d more in the run's file", len(all)-i))
		}
		out = append(out, cut(clean(s), maxText))
	}
	return out
}

// sums are a run's figures in words.
func sums(f load.Figures) []meaning {
	c := f.Clients
	all := []meaning{
		{"Asked", number(f.Asked)},
		{"Lost", number(f.Lost)},
		{"Bad", number(f.Bad)},
		{"Stalled", number(f.Stalled)},
		{"Felt outage", seconds(f.Outage)},
		{"Worst gap", seconds(f.WorstGap)},
		{"Answer p50", latency(f.P50)}, {"p95", latency(f.P95)}, {"p99", latency(f.P99)}, {"max", latency(f.Max)},
		{"Moved", number(f.Moved)},
		{"Resets", number(f.Resets)},
		{"Answers", byNode(f.Nodes)},
		{"Generator late p99", latency(f.LateP99)},
	}
	if c.Count > 1 {
		all = append(all, meaning{"Clients hurt", fmt.Sprintf("%s of %s", number(c.Hurt), number(c.Count))},
			meaning{"Their outage", fmt.Sprintf("least %s, median %s, p90 %s, worst %s", seconds(c.Outage.Min), seconds(c.Outage.Median),
				seconds(c.Outage.P90), seconds(c.Outage.Max))},
			meaning{"Their failed part", fmt.Sprintf("least %s, median %s, p90 %s, worst %s", percentOf(c.Failed.Min), percentOf(c.Failed.Median),
				percentOf(c.Failed.P90), percentOf(c.Failed.Max))})
	}
	return slices.DeleteFunc(all, func(m meaning) bool { return m.text == "" })
}

// percentOf spells a part of one in percent.
func percentOf(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f*100), ".0") + " %" }

// phaseLines are the figures by phase, in the order of the phases.
func phaseLines(r result.Run) []phaseLine {
	var all []phaseLine
	for _, p := range r.Phases {
		f, ok := r.ByPhase[p.Name]
		if !ok || slices.ContainsFunc(all, func(l phaseLine) bool { return l.Name == clean(p.Name) }) {
			continue
		}
		if f.Asked == 0 {
			all = append(all, phaseLine{clean(p.Name), "0", "–", "–", "–", "–", "–", "–", "–", "–", "–", ""})
			continue
		}
		all = append(all, phaseLine{clean(p.Name), number(f.Asked), number(f.Lost), number(f.Bad), number(f.Stalled), seconds(f.Outage),
			seconds(f.WorstGap), latency(f.P50), latency(f.P95), latency(f.P99), latency(f.Max), byNode(f.Nodes)})
	}
	return all
}
