package authority

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLimiter shows that no second, wherever it begins, has more than the rate,
// and that what was refused counts for nothing.
func TestLimiter(t *testing.T) {
	tests := []struct {
		name string
		at   []int // ms
		want []int // of those, what passes at a rate of 2
	}{
		{"slow", []int{0, 600, 1200, 1800}, []int{0, 600, 1200, 1800}},
		{"a burst", []int{0, 0, 0, 0, 1000, 1000, 1000}, []int{0, 0, 1000, 1000}},
		{"across the second", []int{0, 900, 950, 1000, 1050, 1899, 1900}, []int{0, 900, 1000, 1900}},
		{"after a pause", []int{0, 0, 5000, 5000, 5000}, []int{0, 0, 5000, 5000}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l limiter
			var got []int
			for _, ms := range tt.at {
				if l.allow(2, time.Unix(0, 0).Add(time.Duration(ms)*time.Millisecond)) {
					got = append(got, ms)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unexpected passes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRate counts over all zones and clients, and only what the behaviour is
// for.
func TestRate(t *testing.T) {
	s := newState(zones())
	limited := Behaviour{Rate: 3, Over: UDP}
	for _, apex := range []string{LAN, Internet} {
		if err := s.set(apex, limited, nil); err != nil {
			t.Fatal(err)
		}
	}
	me, you := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	steps := []struct {
		apex   string
		client netip.Addr
		over   string
		want   Failure
	}{
		{LAN, me, UDP, None},
		{LAN, you, TCP, None},
		{Internet, you, UDP, None},
		{Root, me, UDP, None}, // not limited, so it does not count
		{Internet, me, UDP, None},
		{LAN, you, UDP, Drop},
		{Internet, me, UDP, Drop},
		{LAN, me, TCP, None},
		{Root, me, UDP, None},
	}
	for i, step := range steps {
		if got := s.count(step.apex, step.client, step.over).Failure; got != step.want {
			t.Errorf("query %d, %+v: failure %q", i, step, got)
		}
	}
	if z := s.snapshot()[LAN]; z.Queries != 4 || z.Failed != 1 {
		t.Errorf("the zone's state is %+v, want 4 queries, 1 failed", z)
	}
}

// TestOver has the server be silent over one transport, with connections
// accepted, and answer over the other.
func TestOver(t *testing.T) {
	r := start(t)
	for silent, answers := range map[string]string{UDP: TCP, TCP: UDP} {
		if err := r.Set(t.Context(), LAN, Behaviour{Failure: Drop, Over: silent}); err != nil {
			t.Fatal(err)
		}
		if got, _ := r.ask(answers, "nas.lan.", 5*time.Second); got != "NOERROR" {
			t.Errorf("silent over %s: %q over %s", silent, got, answers)
		}
		if got, _ := r.ask(silent, "nas.lan.", 100*time.Millisecond); got != "" {
			t.Errorf("silent over %s: %q", silent, got)
		}
	}
}
