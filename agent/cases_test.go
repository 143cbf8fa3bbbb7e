package agent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/bgp"
)

// TestCasesOf works out three checks: one by defaults, one that another program
// serves, and one for information.
func TestCasesOf(t *testing.T) {
	c := loaded(t, `
      - {name: local-name, dns: {}}
      - {name: web, http: {url: "http://127.0.0.1/"}, timeout: 2s, slow: {over: 100ms}}
      - {name: own, tcp: {address: "127.0.0.1:853"}, failure: info, tripwire: none, slow: {over: 1s}, timeout: 1s}
    on: {slow: ignore, sick: deprefer}
`)
	type row struct {
		Failure, Sum, Note string
	}
	want := [][]row{
		{
			{"server gone", "13ms", "withdrawn (told by the kernel, of this network namespace; else the interval 1s comes first)"},
			{"server hangs", "1.65s", "second choice"},
			{"wrong answers, given at once", "1.1s", "second choice"},
			{"every answer late", "2.35s", "ignored (over: auto at its least, 250ms at most)"},
		}, {
			{"server gone", "1.01s", "second choice"},
			{"server hangs", "9s", "second choice"},
			{"wrong answers, given at once", "3s", "second choice"},
			{"every answer late", "15.1s", "ignored"},
		}, {
			{"server gone", "1.01s", "shown only: failure: info"},
			{"server hangs", "3.1s", "shown only: failure: info"},
			{"wrong answers, given at once", "1.1s", "shown only: failure: info"},
		},
	}
	for i := range want {
		var got []row
		for _, x := range CasesOf(c.Services[0], i) {
			got = append(got, row{x.Failure, x.Bound.Sum().String(), x.Note})
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("check %d: unexpected cases (-want +got):\n%s", i, diff)
		}
	}
}

// TestCasesOfNode sets BFD beside the hold time.
func TestCasesOfNode(t *testing.T) {
	frozen := func(p bgp.Peer) time.Duration { return CasesOfNode(p)[0].Bound.Sum() }
	p := bgp.Peer{HoldTime: 9 * time.Second}
	if got := frozen(p); got != 9*time.Second {
		t.Errorf("without BFD: %s", got)
	}
	p.BFD = &bgp.BFD{Interval: 300 * time.Millisecond, Multiplier: 3}
	if got := frozen(p); got != 900*time.Millisecond {
		t.Errorf("with BFD: %s", got)
	}
	if got := CasesOfNode(p)[1].Felt(time.Minute); got != time.Minute {
		t.Errorf("a killed agent, by DNS: %s", got)
	}
}
