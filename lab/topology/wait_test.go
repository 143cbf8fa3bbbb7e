package topology

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		start := time.Now()
		err := Within(t.Context(), time.Second, "three looks", func() (bool, string) {
			looks++
			return looks == 3, ""
		})
		if err != nil || looks != 3 || time.Since(start) != 2*pollEvery {
			t.Errorf("%d looks in %v, %v", looks, time.Since(start), err)
		}
	})
}

// TestWithinFails shows what the error of a condition that does not come says.
func TestWithinFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := Within(t.Context(), time.Second, "the moon rise", func() (bool, string) { return false, "clouds" })
		for _, want := range []string{"the moon rise", "within 1s", "clouds"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v is no deadline", err)
		}
	})
}

// TestWaitForInterrupted shows that the reason of an interruption is told.
func TestWaitForInterrupted(t *testing.T) {
	cause := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := WaitFor(ctx, "anything", func() (bool, string) {
		cancel(cause)
		return false, "nothing"
	})
	if !errors.Is(err, cause) {
		t.Errorf("error %v, want %v in it", err, cause)
	}
}
