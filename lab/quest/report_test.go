package quest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/load"
	"recuse/lab/result"
)

// Where and when the reports of these tests are from.
var (
	when  = time.Date(2026, 11, 30, 7, 30, 0, 0, time.UTC)
	where = result.Machine{CPU: "a CPU", Cores: 2, System: "Debian", Kernel: "Linux 6.1"}
)

func TestReverseMarkdown(t *testing.T) {
	r := ReverseReport{Date: when, Machine: where, Busy: "0.1, 0.2, 0.3", Leases: 2, Delay: time.Millisecond,
		Results: []ReverseResult{{Resolver: "unbound", Version: "Version 1", Note: "resolves",
			Cold: Pass{Asked: 2, Right: 1, Lost: 1, P50: 1234567, P95: 2 * time.Second, P99: 2 * time.Second, Total: 2001234567, Authority: 3},
			Warm: Pass{Asked: 2, Right: 2, P50: 41234, P95: 51234, P99: 51234, Total: 92468}}},
		LeftOut: []LeftOut{{"bind", "named is not installed"}}}
	want := `# Reverse lookups of 2 leases, by resolver

2026-11-30 07:30 UTC, a CPU, 2 cores, Debian, kernel Linux 6.1; load averages 0.1, 0.2, 0.3 when it began.

One PTR lookup after the other, as a script makes them; cold is a resolver that has just started. The last column is how many of the questions reached the authority, which answers after 1 ms.

| resolver | | right | p50 | p95 | p99 | total | authority asked |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
| **unbound**, Version 1, resolves | cold | 1 of 2 | 1.23 ms | 2 s | 2 s | 2 s | 3 |
|  | warm | 2 of 2 | 0.0412 ms | 0.0512 ms | 0.0512 ms | 0.0925 ms | 0 |

* Left out: bind: named is not installed.
`
	if d := cmp.Diff(want, r.Markdown()); d != "" {
		t.Errorf("unexpected page (-want +got):\n%s", d)
	}
}

func TestRampMarkdown(t *testing.T) {
	r := RampReport{Date: when, Machine: where, Busy: "0.1, 0.2, 0.3", Start: 50, Max: 50_000, Slow: 50 * time.Millisecond, Loss: 0.001, Hold: 2 * time.Second,
		Results: []RampResult{
			{Resolver: "unbound", Version: "Version 1", Setting: "ip-ratelimit: 200", Limit: 200, Held: 200, Fails: 206, Why: "2.4 % lost",
				Steps: []Step{{Rate: 200, Held: true, P50: 200 * time.Microsecond, P99: time.Millisecond}, {Rate: 206}}},
			{Resolver: "dnsdist", Held: 50_000, Steps: []Step{{Rate: 50_000, Held: true, Late: true, P99: load.Infinite}}},
			{Resolver: "dnsmasq", Fails: 50, Why: "p99 60 ms", Steps: []Step{{Rate: 50}}},
		}}
	want := `| **unbound**, Version 1 | ` + "`ip-ratelimit: 200`" + ` | 200 | 206 | 2.4 % lost | 0.2 ms, 1 ms |
| **dnsdist** | - | 50,000 (the generator was late) | - | - | - |
| **dnsmasq** | - | none | 50 | p99 60 ms | - |
`
	if page := r.Markdown(); !strings.HasSuffix(page, want) || !strings.Contains(page, "no more than 0.1 % are lost and p99 is at most 50 ms. ") {
		t.Errorf("unexpected page:\n%s", page)
	}
}

// TestReportsAsJSON shows that what is written is what is read.
func TestReportsAsJSON(t *testing.T) {
	ramp := RampReport{Date: when, Machine: where, Busy: "0.1, 0.2, 0.3", Hold: time.Second, Results: []RampResult{{
		Resolver: "unbound", Held: 50, Steps: []Step{{Rate: 50, Asked: 100, Lost: 1, P50: 1, P99: load.Infinite, Why: "1 % lost"}}}}}
	reverse := ReverseReport{Date: when, Machine: where, Busy: "0.1, 0.2, 0.3", Leases: 1, Results: []ReverseResult{{Resolver: "x", Cold: Pass{Asked: 1}}}}
	var gotRamp RampReport
	var gotReverse ReverseReport
	for _, pair := range []struct{ from, to any }{{ramp, &gotRamp}, {reverse, &gotReverse}} {
		text, err := json.Marshal(pair.from)
		if err == nil {
			err = json.Unmarshal(text, pair.to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(ramp, gotRamp); d != "" {
		t.Errorf("unexpected ramp (-want +got):\n%s", d)
	}
	if d := cmp.Diff(reverse, gotReverse); d != "" {
		t.Errorf("unexpected lookups (-want +got):\n%s", d)
	}
}

func TestJudge(t *testing.T) {
	o := Options{Loss: 0.01, Slow: 50 * time.Millisecond}
	const late = "the generator was late"
	tests := []struct {
		name    string
		figures load.Figures
		want    Step
	}{
		{"held", load.Figures{Asked: 1000, Lost: 4, Bad: 6, P99: 50 * time.Millisecond}, Step{Asked: 1000, Lost: 10, P99: 50 * time.Millisecond, Held: true}},
		{"lost", load.Figures{Asked: 1000, Lost: 11}, Step{Asked: 1000, Lost: 11, Why: "1.1 % lost"}},
		{"failures", load.Figures{Asked: 1000, Bad: 1000}, Step{Asked: 1000, Lost: 1000, Why: "100 % lost"}},
		{"slow", load.Figures{Asked: 1000, P99: 51 * time.Millisecond}, Step{Asked: 1000, P99: 51 * time.Millisecond, Why: "p99 51 ms"}},
		{"slow and late", load.Figures{Asked: 1000, P99: 51 * time.Millisecond, Void: late}, Step{Asked: 1000, P99: 51 * time.Millisecond, Held: true, Late: true}},
		{"lost and late", load.Figures{Asked: 1000, Lost: 11, Void: late}, Step{Asked: 1000, Lost: 11, Why: "1.1 % lost", Late: true}},
		{"could not send", load.Figures{Asked: 1000, Lost: 1, Unsent: 1, Void: "could not send"}, Step{Asked: 1000, Lost: 1, Why: "could not send", Late: true}},
	}
	for _, tt := range tests {
		tt.want.Rate = 500
		if d := cmp.Diff(tt.want, judge(o, 500, tt.figures)); d != "" {
			t.Errorf("%s: unexpected step (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestJudged(t *testing.T) {
	var records []load.Record
	for i := range 10 {
		records = append(records, load.Record{Seq: i, Intended: when.Add(time.Duration(i) * time.Second)})
	}
	if got, err := judged(records, 7*time.Second); err != nil || len(got) != 3 || got[0].Seq != 7 {
		t.Errorf("judged %v, %v", got, err)
	}
	for _, none := range [][]load.Record{nil, records[:5]} {
		if got, err := judged(none, 7*time.Second); err == nil {
			t.Errorf("judged %v", got)
		}
	}
}

func TestWords(t *testing.T) {
	rates := map[float64]string{0: "-", 7: "7", 999.6: "1,000", 12345: "12,345", 1234567: "1,234,567"}
	for r, want := range rates {
		if got := rate(r); got != want {
			t.Errorf("rate %v is %q, want %q", r, got, want)
		}
	}
	durations := map[time.Duration]string{0: "0 ms", 1: "1e-06 ms", 41234: "0.0412 ms", 1500 * time.Microsecond: "1.5 ms",
		123456 * time.Microsecond: "123 ms", 12345 * time.Millisecond: "12.3 s", load.Infinite: "none"}
	for d, want := range durations {
		if got := round(d); got != want {
			t.Errorf("%v is %q, want %q", int64(d), got, want)
		}
	}
}

func TestOptionsErrors(t *testing.T) {
	good := Options{Authority: []string{"recuse-authority"}}
	got, err := good.withDefaults()
	if err != nil || got.Leases != 200 || !got.Limited || !got.Unlimited || got.Max != load.MaxRate {
		t.Errorf("defaults %+v, %v", got, err)
	}
	tests := []struct {
		change func(o *Options)
		want   string
	}{
		{func(o *Options) { o.Authority = nil }, "authority: no command"},
		{func(o *Options) { o.Leases = 64_001 }, "leases: 64001: must be 1 to 64000"},
		{func(o *Options) { o.Delay = -1 }, "delay: -1ns: must not be negative"},
		{func(o *Options) { o.Limit = -5 }, "limit: -5: must be at least 1"},
		{func(o *Options) { o.Start = 60_000 }, "rates: 60000 to 50000: must be more than 0 and at most 50000"},
		{func(o *Options) { o.Max = 60_000 }, "rates: 50 to 60000: must be more than 0 and at most 50000"},
		{func(o *Options) { o.Slow = -1 }, "slow: -1ns: must be more than 0"},
		{func(o *Options) { o.Loss = 1 }, "loss: 1: must be at least 0 and less than 1"},
		{func(o *Options) { o.Hold = -1 }, "hold: -1ns: must be more than 0"},
		{func(o *Options) { o.Precision = 1 }, "precision: 1: must be between 0 and 1"},
		{func(o *Options) { o.Resolvers = []string{"bind", "djbdns"} },
			`resolvers: "djbdns": must be one of unbound, dnsdist, bind, knot-resolver, dnsmasq, dnsmasq-large`},
	}
	for _, tt := range tests {
		o := good
		tt.change(&o)
		text := ""
		if _, err := o.withDefaults(); err != nil {
			text = err.Error()
		}
		if d := cmp.Diff(tt.want, text); d != "" {
			t.Errorf("unexpected error (-want +got):\n%s", d)
		}
		if _, err := Reverse(t.Context(), o); err == nil {
			t.Errorf("looked up all the same: %s", tt.want)
		}
		if _, err := Ramp(t.Context(), o); err == nil {
			t.Errorf("ramped all the same: %s", tt.want)
		}
	}
}

func TestMissingProgram(t *testing.T) {
	r := resolver{program: "no-such-resolver", debian: "no-such-package"}
	const want = "no-such-resolver is not installed (Debian: apt-get install no-such-package)"
	if _, err := r.find(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
