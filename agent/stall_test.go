package agent

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recuse/probe"
)

// TestLoopStalls proves that after a stall nothing is known any more, which
// costs the first place until the checks have said otherwise, and no route.
func TestLoopStalls(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stall time.Duration
		want  string
	}{
		{"short", probe.StallMost, ""},
		// The runner has not stalled: what it reported meanwhile is good.
		{"long", probe.StallMost + time.Second, "8.1s routes " + less + "\n8.1s routes " + full},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := up(t, nil)
				defer w.finish()
				w.inLoop(func() { time.Sleep(tt.stall) })
				w.until(15 * time.Second)
				if got := w.read(); got != tt.want {
					t.Errorf("unexpected diary: got\n%s\nwant about\n%s", got, tt.want)
				}
				logged := strings.Contains(w.logs.String(), "every check begins anew")
				if logged != (tt.want != "") {
					t.Errorf("logged: %v\n%s", logged, w.logs)
				}
			})
		})
	}
}

// TestForgetAfterStall proves that nothing is left of what the checks have said.
func TestForgetAfterStall(t *testing.T) {
	good := probe.Report{Verdict: probe.Verdict{Level: probe.OK}}
	s := &service{checks: []*check{{name: "one", last: good}}}
	s.forget(4 * time.Second)
	o := Combine(Policy{}, s.evidence())
	if o.Level != probe.Unknown || o.Ready || o.Why != "one: stalled for 4.0 s: begins anew" {
		t.Errorf("unexpected opinion: %+v", o)
	}
}
