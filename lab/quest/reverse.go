package quest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/result"
)

// ReverseReport says how long the reverse lookups of a lease table take.
type ReverseReport struct {
	Date    time.Time       `json:"date"`
	Machine result.Machine  `json:"machine"`
	Busy    string          `json:"busy"` // the box's load averages when it began
	Leases  int             `json:"leases"`
	Delay   time.Duration   `json:"delay_ns"` // added by the authority
	Results []ReverseResult `json:"results"`
	LeftOut []LeftOut       `json:"left_out,omitempty"`
}

// ReverseResult is one resolver's.
type ReverseResult struct {
	Resolver string `json:"resolver"`
	Note     string `json:"note,omitempty"`
	Version  string `json:"version"`
	Cold     Pass   `json:"cold"` // just started
	Warm     Pass   `json:"warm"` // the same again
}

// Pass is one lookup of each lease, one after the other. A lookup without an
// answer counts as long as it was waited for.
type Pass struct {
	Asked int           `json:"asked"`
	Right int           `json:"right"` // the lease's name came
	Wrong int           `json:"wrong"` // another answer came
	Lost  int           `json:"lost"`
	P50   time.Duration `json:"p50_ns"`
	P95   time.Duration `json:"p95_ns"`
	P99   time.Duration `json:"p99_ns"`
	Total time.Duration `json:"total_ns"`
	// Authority is how many questions about addresses the authority got
	// meanwhile: the proof of what was cached.
	Authority int `json:"authority"`
}

// LeftOut is a resolver that was not asked.
type LeftOut struct {
	Resolver string `json:"resolver"`
	Why      string `json:"why"`
}

// Reverse looks up the name of every lease's address, cold and warm, at each
// resolver. It needs root.
func Reverse(ctx context.Context, o Options) (_ ReverseReport, err error) {
	if o, err = o.withDefaults(); err != nil {
		return ReverseReport{}, err
	}
	rep := ReverseReport{Date: time.Now(), Machine: result.Here(), Busy: busy(), Leases: o.Leases, Delay: o.Delay}
	err = each(ctx, o, &rep.LeftOut, func(b *bed, r resolver, program, version string) error {
		res := ReverseResult{Resolver: r.name, Note: r.note, Version: version}
		err := b.reverse(ctx, o, r, program, &res)
		rep.Results = append(rep.Results, res)
		return err
	})
	return rep, err
}

// reverse fills in one resolver's result.
func (b *bed) reverse(ctx context.Context, o Options, r resolver, program string, res *ReverseResult) (err error) {
	if err := b.Authority.SetDelay(ctx, authority.Reverse, o.Delay); err != nil {
		return err
	}
	p, err := b.start(ctx, r, program, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.End()) }()
	for _, pass := range []struct {
		name string
		to   *Pass
	}{{"cold", &res.Cold}, {"warm", &res.Warm}} {
		if *pass.to, err = b.pass(ctx, o.Leases); err != nil {
			return err
		}
		o.Progress(fmt.Sprintf("%s, %s: %d lookups in %s", r.name, pass.name, pass.to.Asked, round(pass.to.Total)))
	}
	return err
}

// pass looks up every lease once.
func (b *bed) pass(ctx context.Context, leases int) (p Pass, err error) {
	before, err := b.Authority.Zones(ctx)
	if err != nil {
		return p, err
	}
	took := make([]time.Duration, leases)
	start := time.Now()
	for i := range leases {
		began := time.Now()
		b.look(ctx, &p, i)
		took[i] = time.Since(began)
		if err := context.Cause(ctx); err != nil {
			return p, err
		}
	}
	p.Total = time.Since(start)
	after, err := b.Authority.Zones(ctx)
	if err != nil {
		return p, err
	}
	p.Authority = after[authority.Reverse].Queries - before[authority.Reverse].Queries
	slices.Sort(took)
	p.P50, p.P95, p.P99 = quantile(took, 50), quantile(took, 95), quantile(took, 99)
	return p, nil
}

// look looks up one lease and counts what came.
func (b *bed) look(ctx context.Context, p *Pass, lease int) {
	name, address := authority.Lease(lease)
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	p.Asked++
	m, err := b.Client.Ask(ctx, b.node.V4, authority.ReverseName(address), dns.TypePTR)
	switch {
	case err != nil:
		p.Lost++
	case pointsTo(m, name):
		p.Right++
	default:
		p.Wrong++
	}
}

// pointsTo reports whether the answer is the one PTR record to that name.
func pointsTo(m *dns.Msg, name string) bool {
	if len(m.Answer) != 1 {
		return false
	}
	ptr, ok := m.Answer[0].(*dns.PTR)
	return ok && ptr.Ptr == name
}

// quantile is the smallest of the sorted values that so many percent do not
// exceed.
func quantile(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}
