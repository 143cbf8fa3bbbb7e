package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/agent/config"
	"recuse/probe"
)

func TestCombine(t *testing.T) {
	prime := func(l probe.Level) Evidence {
		return Evidence{Name: "first", Level: l, Prime: true, Reason: "r1"}
	}
	other := func(l probe.Level) Evidence {
		return Evidence{Name: "other", Level: l, Reason: "r2"}
	}
	path := func(l probe.Level) Evidence {
		return Evidence{Name: "path", Level: l, Prime: true, Path: true,
			Reason: "r3"}
	}
	info := func(l probe.Level) Evidence {
		return Evidence{Name: "info", Level: l, Info: true}
	}
	tests := []struct {
		name   string
		need   int
		checks []Evidence
		want   Opinion
	}{
		{"no checks", 0, nil,
			Opinion{Why: "no check has counted yet"}},
		{"nothing known", 0, []Evidence{prime(probe.Unknown)},
			Opinion{Why: "first: r1"}},
		{"one ok", 0, []Evidence{prime(probe.OK)},
			Opinion{probe.OK, true, "first: r1"}},
		{"all takes the worst", 0,
			[]Evidence{prime(probe.OK), other(probe.Sick)},
			Opinion{probe.Sick, false, "other: r2"}},
		{"a secondary dead is sick", 0,
			[]Evidence{prime(probe.OK), other(probe.Dead)},
			Opinion{probe.Sick, false, "other: r2"}},
		{"a prime dead is dead", 0,
			[]Evidence{prime(probe.Dead), other(probe.OK)},
			Opinion{probe.Dead, false, "first: r1"}},
		{"unknown is left out of the level but not ready", 0,
			[]Evidence{prime(probe.OK), other(probe.Unknown)},
			Opinion{probe.OK, false, "other: r2"}},
		{"information is never counted", 0,
			[]Evidence{prime(probe.OK), info(probe.Dead)},
			Opinion{probe.OK, true, "first: r1"}},
		{"only information says nothing", 0, []Evidence{info(probe.OK)},
			Opinion{Why: "no check has counted yet"}},
		{"any takes the best", 1,
			[]Evidence{prime(probe.Dead), other(probe.OK)},
			Opinion{probe.OK, true, "other: r2"}},
		{"any with none good", 1,
			[]Evidence{prime(probe.Dead), other(probe.Sick)},
			Opinion{probe.Sick, false, "other: r2"}},
		{"the second best of three", 2,
			[]Evidence{prime(probe.OK), other(probe.Sick), prime(probe.Dead)},
			Opinion{probe.Sick, false, "other: r2"}},
		{"two of three are enough", 2,
			[]Evidence{prime(probe.OK), other(probe.OK), prime(probe.Dead)},
			Opinion{probe.OK, true, "other: r2"}},
		{"a deaf address under any", 1,
			[]Evidence{prime(probe.OK), other(probe.OK), path(probe.Dead)},
			Opinion{probe.Dead, false, "path: r3"}},
		{"the path has no vote", 2,
			[]Evidence{prime(probe.OK), other(probe.Sick), path(probe.OK),
				path(probe.OK)},
			Opinion{probe.Sick, false, "other: r2"}},
		{"the path alone says something", 0,
			[]Evidence{prime(probe.Unknown), path(probe.Sick)},
			Opinion{probe.Sick, false, "path: r3"}},
		{"more wanted than there are", 5,
			[]Evidence{prime(probe.OK), other(probe.Slow)},
			Opinion{probe.Slow, false, "other: r2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Combine(Policy{Need: tt.need}, tt.checks)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unexpected opinion (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGraded(t *testing.T) {
	for _, tt := range []struct {
		failure string
		level   probe.Level
		want    probe.Level
	}{
		{config.FailureAuto, probe.Sick, probe.Sick},
		{config.FailureAuto, probe.Dead, probe.Dead},
		{config.FailureDead, probe.Sick, probe.Dead},
		{config.FailureDead, probe.Slow, probe.Slow},
		{config.FailureDead, probe.OK, probe.OK},
		{config.FailureDead, probe.Unknown, probe.Unknown},
		{config.FailureSick, probe.Dead, probe.Sick},
		{config.FailureSick, probe.OK, probe.OK},
	} {
		c := check{conf: config.Check{Failure: tt.failure}}
		if got := c.graded(tt.level); got != tt.want {
			t.Errorf("failure: %s at %s: got %s, want %s", tt.failure,
				tt.level, got, tt.want)
		}
	}
}
