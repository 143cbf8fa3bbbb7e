package netlinktest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/netlinkx"
)

// TestScenarios runs each scenario on the fake and on the kernel: the same
// steps must lead to the same states and the same errors.
func TestScenarios(t *testing.T) {
	for _, tt := range scenarios {
		t.Run(tt.name+"/simulated", func(t *testing.T) {
			runScenario(t, NewFake(t, config(or(tt.kind, netlinkx.KindDummy))), netlinkx.KindDummy, tt.steps)
		})
		t.Run(tt.name+"/kernel", func(t *testing.T) {
			NewNS(t)
			able := Kind(t)
			if tt.needs != "" {
				NeedKind(t, tt.needs)
			}
			runScenario(t, NewBox(t, config(or(tt.kind, able))), able, tt.steps)
		})
	}
}

// runScenario takes the steps and compares the states. able is the kind of link
// that stands for KIND. A step of the agent is taken twice, and must neither
// write nor change anything the second time.
func runScenario(t *testing.T, s subject, able string, steps []step) {
	if err := s.Lock(); err != nil {
		t.Fatalf("failed to lock: %v", err)
	}
	for i, st := range steps {
		err := st.run(s, able)
		if !errors.Is(err, st.err) {
			t.Fatalf("step %d: unexpected error: got %v, want %v", i, err, st.err)
		}
		want := strings.ReplaceAll(st.want, "KIND", able)
		if diff := cmp.Diff(want, s.String()); diff != "" {
			t.Fatalf("step %d: unexpected state (-want +got):\n%s", i, diff)
		}
		if !st.agent {
			continue
		}
		before := s.Writes()
		if err := st.run(s, able); !errors.Is(err, st.err) {
			t.Fatalf("step %d, again: unexpected error: got %v, want %v", i, err, st.err)
		}
		if n := s.Writes() - before; n != 0 {
			t.Fatalf("step %d, again: got %d writes, want none", i, n)
		}
	}
}

// or returns kind, or other if it is empty.
func or(kind, other string) string {
	if kind == "" {
		return other
	}
	return kind
}
