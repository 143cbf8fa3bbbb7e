package probe

import "testing"

// TestLevelText proves that each level's text reads back as the same level.
func TestLevelText(t *testing.T) {
	for l, want := range map[Level]string{
		Unknown: "unknown", OK: "ok", Slow: "slow", Sick: "sick", Dead: "dead",
	} {
		text, err := l.MarshalText()
		if err != nil || string(text) != want || l.String() != want {
			t.Errorf("level %d: text %q, string %q, error %v, want %q", l, text, l, err, want)
		}
		back := Level(99)
		if err := back.UnmarshalText(text); err != nil || back != l {
			t.Errorf("%q read back as %v, error %v", text, back, err)
		}
	}
}

// TestLevelTextErrors proves that what is no level is an error.
func TestLevelTextErrors(t *testing.T) {
	if _, err := Level(5).MarshalText(); err == nil {
		t.Error("level 5 was written")
	}
	if got, want := Level(5).String(), "level(5)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	l := Sick
	for _, text := range []string{"", "OK", "level(5)"} {
		if err := l.UnmarshalText([]byte(text)); err == nil || l != Sick {
			t.Errorf("%q: level %v, error %v", text, l, err)
		}
	}
}

// TestLevelOrder proves that worse levels are greater.
func TestLevelOrder(t *testing.T) {
	if !(OK < Slow && Slow < Sick && Sick < Dead) {
		t.Error("the levels are out of order")
	}
}

// TestCauseText proves the names of the causes and that an empty result proves
// nothing.
func TestCauseText(t *testing.T) {
	for c, want := range map[Cause]string{
		Unmade: "unmade", Passed: "passed", Wrong: "wrong", Silent: "silent", Refused: "refused", 9: "cause(9)",
	} {
		if c.String() != want {
			t.Errorf("cause %d: got %q, want %q", c, c, want)
		}
	}
	if (Result{}).Cause != Unmade {
		t.Error("an empty result is not unmade")
	}
}
