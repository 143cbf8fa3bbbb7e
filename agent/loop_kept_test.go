package agent

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recuse/agent/config"
	"recuse/probe"
)

func TestLoopKeepsALinkThatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *config.Service) {
			c.Link.WhenOut = config.WhenOutKeep
		})
		w.begin()
		defer w.finish()
		w.until(4100 * time.Millisecond)
		w.expect("0s routes []", "0s raise", "4s routes "+full)
		w.say("main", probe.Refused)
		w.until(8 * time.Second)
		if got := w.read(); strings.Contains(got, "lower") ||
			!strings.Contains(got, "routes []") {
			t.Errorf("unexpected diary: %s", got)
		}
	})
}

// TestLoopLeavesAKeptLinkToTheOperator sets a link down that stays up while the
// service is out: nothing sets it up again but the operator, fit or not.
func TestLoopLeavesAKeptLinkToTheOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *config.Service) {
			c.Link.WhenOut = config.WhenOutKeep
		})
		w.say("main", probe.Refused)
		w.begin()
		defer w.finish()
		w.until(5 * time.Second)
		w.expect("0s routes []", "0s raise")
		w.byHand("down", w.setDown)
		w.until(15 * time.Second)
		w.expect("5s by hand: down")
		w.say("main", probe.Passed)
		w.until(30 * time.Second)
		w.expect()
		if got := w.explain(); !strings.Contains(got, "set down by hand") {
			t.Errorf("unexpected reason: %s", got)
		}
		w.byHand("up", func() { w.link.Up = true })
		w.until(31 * time.Second)
		w.expect("30s by hand: up", "30s raise", "30s routes "+full)
	})
}
