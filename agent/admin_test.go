package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recuse/agent/config"
	"recuse/agent/control"
	"recuse/probe"
)

// operator speaks to the loop as the control socket does.
func (w *world) operator() *Agent { return &Agent{loop: w.loop} }

// drains asks for a drain and gives its answer and when it came.
func (w *world) drains(d control.Drain) (<-chan error, *time.Duration) {
	d.Service = "dns"
	answer, took := make(chan error, 1), new(time.Duration)
	go func() {
		err := w.operator().Drain(context.Background(), d)
		*took = time.Since(w.start)
		answer <- err
	}()
	synctest.Wait()
	return answer, took
}

// admin asks for the word in status.
func (w *world) admin() string {
	st, err := w.operator().snapshotForTest()
	if err != nil {
		w.t.Fatal(err)
	}
	return st.Services[0].Admin
}

// snapshotForTest is Status without a speaker.
func (a *Agent) snapshotForTest() (st control.Status, err error) {
	err = a.loop.call(context.Background(), func() { st = a.loop.snapshot() })
	return st, err
}

func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.shows(true)
		answer, took := w.drains(control.Drain{Reason: "new disk"})
		w.expect("4.1s routes " + less)
		if err := <-answer; err != nil {
			t.Fatalf("unexpected answer: %v", err)
		}
		if *took < 7300*time.Millisecond || *took > 8900*time.Millisecond {
			t.Errorf("unexpected end of the drain: %s", *took)
		}
		got := w.read()
		if !strings.Contains(got, "routes []") || !strings.HasSuffix(got, "lower") {
			t.Errorf("unexpected diary: %s", got)
		}
		if got := w.admin(); got != "drained" {
			t.Errorf("unexpected admin: %q", got)
		}
		w.shows(false) // nobody serves: it stays out all the same
		w.until(60 * time.Second)
		w.expect()
		if got := w.explain(); got !=
			"drained by command: new disk; NOBODY SERVES" {
			t.Errorf("unexpected reason: %q", got)
		}
		if err := w.operator().Undrain(context.Background(), "dns"); err != nil {
			t.Fatal(err)
		}
		w.expect("1m0s raise", "1m0s routes "+full) // no hold
		if got := w.admin(); got != "enabled" {
			t.Errorf("unexpected admin: %q", got)
		}
	})
}

func TestDrainAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		answer, took := w.drains(control.Drain{})
		err := <-answer
		if err == nil || !strings.Contains(err.Error(), "no other node") {
			t.Errorf("unexpected answer: %v", err)
		}
		if *took != 14100*time.Millisecond {
			t.Errorf("unexpected end of the drain: %s", *took)
		}
		w.expect("4.1s routes "+less, "14.1s routes "+full)
		if got := w.admin(); got != "enabled" {
			t.Errorf("unexpected admin: %q", got)
		}
	})
}

func TestDrainForced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		answer, _ := w.drains(control.Drain{Force: true,
			For: control.Duration(time.Minute)})
		if err := <-answer; err != nil {
			t.Errorf("unexpected answer: %v", err)
		}
		w.expect("4.1s routes "+less, "5.1s routes []", "5.3s lower")
		w.until(70 * time.Second)
		w.expect("1m4.1s raise", "1m4.1s routes "+full)
	})
}

func TestDrainTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		answer, _ := w.drains(control.Drain{})
		w.until(6 * time.Second)
		if err := w.operator().Undrain(context.Background(), "dns"); err != nil {
			t.Fatal(err)
		}
		if err := <-answer; err == nil {
			t.Error("a drain that was taken back is reported as done")
		}
		w.expect("4.1s routes "+less, "6s routes "+full)
	})
}

func TestDrainFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "drain")
		w := up(t, func(c *config.Service) { c.DrainFile = path })
		defer w.finish()
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w.until(30 * time.Second)
		// Nobody else is seen, and nobody waits: second choice without end.
		if got := w.read(); !strings.HasSuffix(got, "routes "+less) ||
			strings.Contains(got, "lower") {
			t.Errorf("unexpected diary: %s", got)
		}
		w.shows(true)
		w.until(36 * time.Second)
		if got := w.read(); !strings.HasSuffix(got, "lower") {
			t.Errorf("not out although others serve: %s", got)
		}
		if err := w.operator().Undrain(context.Background(), "dns"); err == nil ||
			!strings.Contains(err.Error(), "remove the file") {
			t.Errorf("unexpected answer: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		w.until(40 * time.Second)
		if got := w.read(); !strings.HasSuffix(got, "routes "+full) {
			t.Errorf("not back without the file: %s", got)
		}
	})
}

func TestCommandsNameTheirTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		ctx, a := context.Background(), w.operator()
		for _, tt := range []struct {
			name string
			err  error
			want string
		}{
			{"drain", a.Drain(ctx, control.Drain{Service: "nds"}), `service "nds"`},
			{"undrain", a.Undrain(ctx, "dns"), "not drained"},
			{"resume", a.Resume(ctx, "dns"), "not in a hold"},
		} {
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
				t.Errorf("%s: unexpected answer: %v", tt.name, tt.err)
			}
		}
	})
}

// waiting is a world whose service has been healthy again for long, and is second
// choice until an operator says otherwise.
func waiting(t *testing.T) *world {
	w := up(t, func(c *config.Service) {
		c.Failback = config.FailbackManual
	})
	w.say("main", probe.Wrong)
	w.until(8 * time.Second)
	w.say("main", probe.Passed)
	w.until(time.Hour)
	return w
}

func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := waiting(t)
		defer w.finish()
		if got := w.read(); !strings.HasSuffix(got, "routes "+less) {
			t.Fatalf("full again without an operator: %s", got)
		}
		if err := w.operator().Resume(context.Background(), "dns"); err != nil {
			t.Fatal(err)
		}
		w.expect("1h0m0s routes " + full)
	})
}

// TestDrainRefused proves that a wish which makes no sense moves nothing.
func TestDrainRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		for name, d := range map[string]control.Drain{
			"a span below 0":   {For: control.Duration(-time.Minute)},
			"a line of a log":  {Reason: "disk\nlevel=INFO"},
			"a terminal's":     {Reason: "\x1b[2J"},
			"no text":          {Reason: "\xff"},
			"a whole novel":    {Reason: strings.Repeat("x", maxReason+1)},
			"forced, below 0 ": {For: -1, Force: true},
		} {
			d.Service = "dns"
			if err := w.operator().Drain(context.Background(), d); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		w.expect()
	})
}

// TestReloadEndsManualFailback reloads with failback: auto while a manual hold
// keeps a healthy service second choice: its time is over, so it becomes full.
func TestReloadEndsManualFailback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := waiting(t)
		defer w.finish()
		w.read()
		if _, err := w.reloads(control.Reload{}, func(c *config.Config) {
			c.Services[0].Checks = []config.Check{w.svc.checks[0].conf}
			c.Services[0].Failback = config.FailbackAuto
		}); err != nil {
			t.Fatal(err)
		}
		w.expect("1h0m0s routes " + full)
	})
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		ctx, end := context.WithCancel(context.Background())
		past, coming, err := w.operator().Events(ctx, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(past) != 2 || past[1].To != "serving" ||
			past[1].Evidence[0].Check != "local-name" ||
			past[1].Evidence[0].Outcome == "" {
			t.Errorf("unexpected events: %+v", past)
		}
		w.say("main", probe.Refused)
		e := <-coming
		if e.Reason != "dead" || e.Stance != "withdrawn" || e.Seq != 3 ||
			e.HoldUntil == nil {
			t.Errorf("unexpected event: %+v", e)
		}
		end()
		synctest.Wait()
		for range coming { // drains and ends: the follower is gone
		}
	})
}

func TestDiaryForgets(t *testing.T) {
	var d diary
	_, slow := d.follow()
	for range eventsKept + 10 {
		d.add(control.Event{})
	}
	past, _ := d.follow()
	if len(past) != eventsKept || past[0].Seq != 11 {
		t.Errorf("unexpected memory: %d from %d", len(past), past[0].Seq)
	}
	n := 0
	for range slow {
		n++
	}
	if n != followerQueue {
		t.Errorf("a slow follower got %d events before its end", n)
	}
}

// TestDrainHeld drains a service whose link an operator has set down: it is out
// already, and stays out when the link is up again.
func TestDrainHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.byHand("down", w.setDown)
		answer, _ := w.drains(control.Drain{})
		select {
		case err := <-answer:
			if err != nil {
				t.Errorf("unexpected answer: %v", err)
			}
		default:
			t.Error("no answer, though the service is out")
			return
		}
		w.read()
		w.byHand("up", func() { w.link.Up = true })
		w.until(10 * time.Second)
		w.expect("4.1s by hand: up", "4.25s lower")
	})
}

func TestReloadChangesTheDrainFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
		w := up(t, func(c *config.Service) { c.DrainFile = before })
		defer w.finish()
		if err := os.WriteFile(before, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w.until(5 * time.Second)
		if _, err := w.reloads(control.Reload{}, func(c *config.Config) {
			c.Services[0].DrainFile, c.Services[0].Checks = after, nil
		}); err != nil {
			t.Fatal(err)
		}
		w.until(6 * time.Second)
		if got := w.admin(); got != "enabled" {
			t.Errorf("%s by a file that is not configured any more", got)
		}
		if err := os.WriteFile(after, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w.until(7 * time.Second)
		if got := w.admin(); got != "drained" {
			t.Errorf("%s though the new file exists", got)
		}
	})
}

// TestAnswersThatComeTooLate gives up on a loop that is held, which then goes on:
// under the race detector, nothing that was given up is looked at.
func TestAnswersThatComeTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		hold := make(chan struct{})
		go func() {
			_ = w.loop.call(context.Background(), func() { <-hold })
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		a := w.operator()
		_, status := a.Status(ctx)
		_, _, events := a.Events(ctx, false)
		for name, err := range map[string]error{"status": status, "events": events,
			"drain":   a.Drain(ctx, control.Drain{Service: "nds"}),
			"undrain": a.Undrain(ctx, "nds")} {
			if err == nil {
				t.Errorf("%s: an answer from a loop that is held", name)
			}
		}
		close(hold)
		synctest.Wait()
	})
}
