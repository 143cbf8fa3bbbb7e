package authority

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTreatment takes queries through several behaviours: each holds for those
// that come after it, over its own transport, and all are counted.
func TestTreatment(t *testing.T) {
	var tr Treatment
	steps := []struct {
		set  Behaviour
		over string
		want Behaviour
	}{
		{Behaviour{}, UDP, Behaviour{}},
		{Behaviour{Delay: time.Second}, TCP, Behaviour{Delay: time.Second}},
		{Behaviour{Failure: ServFail, Over: TCP}, UDP, Behaviour{}},
		{Behaviour{Failure: ServFail, Over: TCP}, TCP, Behaviour{Failure: ServFail, Over: TCP}},
		{Behaviour{Rate: 1}, UDP, Behaviour{Rate: 1}},
		{Behaviour{Rate: 1}, UDP, Behaviour{Rate: 1, Failure: Drop}},
		{Behaviour{Failure: Drop}, UDP, Behaviour{Failure: Drop}},
		{Behaviour{}, UDP, Behaviour{}},
	}
	for i, s := range steps {
		if err := tr.Set(s.set); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s.want, tr.Next(s.over)); d != "" {
			t.Errorf("unexpected treatment of query %d (-want +got):\n%s", i, d)
		}
	}
	if d := cmp.Diff(Counts{Queries: 8, Late: 1, Failed: 3}, tr.Counts()); d != "" {
		t.Errorf("unexpected counts (-want +got):\n%s", d)
	}
	if tr.Set(Behaviour{Part: 2}) == nil {
		t.Error("a part of 2 is no error")
	}
}
