package quest

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recuse/lab/authority"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
	"recuse/netlinkx/netlinktest"
)

// options are those of a run on a real lab.
func options(t *testing.T) Options {
	t.Helper()
	labtest.Require(t, topology.FRR)
	for _, r := range resolvers {
		if _, err := r.find(); err != nil {
			netlinktest.Missing(t, r.program, err)
		}
	}
	return Options{
		Authority: []string{filepath.Join(labtest.Build(t), "recuse-authority")},
		Progress:  func(line string) { t.Log(line) },
	}
}

// TestReverse asks every resolver for a lease table larger than dnsmasq's cache.
func TestReverse(t *testing.T) {
	o := options(t)
	o.Leases, o.Delay = 160, 2*time.Millisecond
	rep, err := Reverse(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Results) != len(resolvers) || len(rep.LeftOut) > 0 {
		t.Errorf("%d results, left out %v", len(rep.Results), rep.LeftOut)
	}
	for _, r := range rep.Results {
		for _, p := range []Pass{r.Cold, r.Warm} {
			if p.Asked != o.Leases || p.Right != o.Leases || p.P50 > p.P95 || p.P95 > p.P99 || p.P99 > p.Total {
				t.Errorf("%s: unexpected pass: %+v", r.Resolver, p)
			}
		}
		// Every question of the cold pass waited for the authority.
		if r.Cold.Authority < o.Leases || r.Cold.P50 < o.Delay || r.Cold.Total < time.Duration(o.Leases)*o.Delay {
			t.Errorf("%s: the cold pass asked the authority %d times, p50 %v, total %v",
				r.Resolver, r.Cold.Authority, r.Cold.P50, r.Cold.Total)
		}
		// A cache of 150 that is asked in order for more has always just forgotten.
		if small := r.Resolver == dnsmasq.name; (r.Warm.Authority > 0) != small {
			t.Errorf("%s: the warm pass asked the authority %d times", r.Resolver, r.Warm.Authority)
		}
		if r.Version == "" {
			t.Errorf("%s does not say its version", r.Resolver)
		}
	}
	page := rep.Markdown()
	for _, name := range Resolvers() {
		if !strings.Contains(page, "**"+name+"**") {
			t.Errorf("the page does not name %s:\n%s", name, page)
		}
	}
}

// TestRampFindsTheLimit asks each resolver that has a limit of the rate, at rates
// on both sides of two limits: what is found is what was configured.
func TestRampFindsTheLimit(t *testing.T) {
	for _, r := range []resolver{unbound, dnsdist, bind} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, tt := range []struct {
				limit              int
				start, held, fails float64
			}{{60, 50, 50, 75}, {200, 75, 75, 0}} {
				o := options(t)
				o.Resolvers, o.Limited, o.Limit = []string{r.name}, true, tt.limit
				o.Start, o.Max, o.Precision = tt.start, 75, 0.5
				// A busy box may stall; only what is lost counts.
				o.Hold, o.Slow = time.Second, stepTimeout
				rep, err := Ramp(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if len(rep.Results) != 1 {
					t.Fatalf("results %+v", rep.Results)
				}
				got := rep.Results[0]
				if got.Held != tt.held || got.Fails != tt.fails || got.Limit != tt.limit || got.Setting == "" {
					t.Errorf("with a limit of %d: %+v", tt.limit, got)
				}
				if tt.fails > 0 && !strings.HasSuffix(got.Why, "lost") {
					t.Errorf("with a limit of %d it failed for %q", tt.limit, got.Why)
				}
			}
		})
	}
}

// TestRampWithoutLimit ramps those that have none, to a rate that all hold.
func TestRampWithoutLimit(t *testing.T) {
	o := options(t)
	o.Start, o.Max, o.Hold, o.Slow = 200, 400, time.Second/2, stepTimeout
	o.Unlimited = true
	rep, err := Ramp(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Results) != len(resolvers) {
		t.Fatalf("%d results", len(rep.Results))
	}
	for _, r := range rep.Results {
		if r.Held != 400 || r.Fails != 0 || r.Setting != "" || len(r.Steps) < 2 {
			t.Errorf("%s: %+v", r.Resolver, r)
		}
	}
}

// TestOneThatDoesNotStart ends with the reason and leaves nothing behind.
func TestOneThatDoesNotStart(t *testing.T) {
	o := options(t)
	o.Leases = 1
	b, err := newBed(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	broken := dnsmasq
	broken.config = func(site) string { return "no-such-setting\n" }
	program, err := broken.find()
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.start(t.Context(), broken, program, 0)
	if p != nil || err == nil || !strings.Contains(err.Error(), "bad option at line 1") {
		t.Errorf("error %v, want the program's own words", err)
	}
	// The next one starts on the same node.
	if p, err = b.start(t.Context(), dnsmasq, program, 0); err != nil {
		t.Fatal(err)
	}
	var pass Pass
	b.look(t.Context(), &pass, 0)
	b.look(t.Context(), &pass, authority.MaxLeases-1) // not in the table
	if pass.Right != 1 || pass.Wrong != 1 || pass.Lost != 0 {
		t.Errorf("unexpected pass: %+v", pass)
	}
	if err := p.End(); err != nil {
		t.Error(err)
	}
}
