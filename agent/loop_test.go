package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/agent/config"
	"recuse/netlinkx"
	"recuse/probe"
)

const (
	full = "[192.0.2.53/32 2001:db8:9::53/128]"
	less = "[192.0.2.53/32 (depreferred) 2001:db8:9::53/128 (depreferred)]"
)

// expect compares the diary since the last reading.
func (w *world) expect(lines ...string) {
	w.t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(strings.Join(lines, "\n"), w.read()); diff != "" {
		w.t.Errorf("unexpected diary (-want +got):\n%s", diff)
	}
}

// up brings a world to the announcement, which takes rise-1 intervals.
func up(t *testing.T, change func(*config.Service)) *world {
	w := newWorld(t, change)
	w.begin()
	time.Sleep(4*time.Second + 100*time.Millisecond)
	synctest.Wait()
	w.read()
	return w
}

// until lets virtual time pass.
func (w *world) until(d time.Duration) {
	time.Sleep(d - time.Since(w.start))
	synctest.Wait()
}

func TestLoopComesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.begin()
		defer w.finish()
		w.until(3900 * time.Millisecond)
		w.expect("0s routes []")
		w.until(4100 * time.Millisecond)
		w.expect("4s raise", "4s routes "+full)
		want := `"from":"raising","to":"serving","stance":"announced",` +
			`"reason":"addresses-answer","detail":"2 of 2 addresses answer"`
		if !strings.Contains(w.logs.String(), want) {
			t.Errorf("no transition in words in the log:\n%s", w.logs)
		}
	})
}

func TestLoopAdoptsAndSetsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.link.Exists, w.link.Up = true, true
		w.link.Present = slices.Clone(w.svc.conf.Addresses)
		w.begin()
		defer w.finish()
		w.until(time.Second)
		w.expect("0s routes []", "0s lower")
	})
}

func TestLoopLeaves(t *testing.T) {
	tests := []struct {
		name   string
		cause  probe.Cause
		others bool
		want   []string
	}{
		// Refused: the next probe is at 5 s, two more after 5 ms each.
		{"refused", probe.Refused, false,
			[]string{"5.01s routes []", "5.21s lower"}},
		// Silent: late after 50 ms, then two fast ones, then the timeout: sick.
		// Nothing else shows life for 3 s: dead.
		{"silent", probe.Silent, false,
			[]string{"5.6s routes " + less, "8.05s routes []", "8.25s lower"}},
		{"silent, others serve", probe.Silent, true,
			[]string{"5.6s routes " + less, "8.05s routes []", "8.25s lower"}},
		// Wrong: known at once, then two fast ones.
		{"wrong", probe.Wrong, false, []string{"5.1s routes " + less}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := up(t, nil)
				defer w.finish()
				if tt.others {
					w.shows(true)
				}
				w.say("main", tt.cause)
				w.until(15 * time.Second)
				got := w.read()
				if want := strings.Join(tt.want, "\n"); !near(got, want) {
					t.Errorf("unexpected diary: got\n%s\nwant about\n%s", got,
						want)
				}
			})
		})
	}
}

// TestLoopYields leaves by the others' marks and comes back when they go.
func TestLoopYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.shows(true)
		w.say("main", probe.Wrong)
		w.until(7 * time.Second)
		w.expect("5.1s routes " + less)
		w.until(9900 * time.Millisecond) // at most 1.5 times yield_wait, and settle
		if got := w.read(); !strings.Contains(got, "routes []") ||
			!strings.Contains(got, "lower") {
			t.Errorf("did not yield: %s", got)
		}
		w.until(20 * time.Second)
		w.expect()
		w.shows(false) // the others died
		w.expect("20s raise", "20s routes "+less)
		w.say("main", probe.Passed)
		w.until(40 * time.Second)
		if got := w.read(); !strings.HasSuffix(got, "routes "+full) {
			t.Errorf("did not become full again: %s", got)
		}
	})
}

// TestLoopHolds announces a node that returns as second choice first.
func TestLoopHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, func(c *config.Service) { c.Hold.Min = 20 * time.Second })
		defer w.finish()
		w.say("main", probe.Refused)
		w.until(5500 * time.Millisecond)
		w.say("main", probe.Passed)
		w.until(12 * time.Second)
		got := w.read()
		if !strings.HasSuffix(got, "routes "+less) {
			t.Fatalf("unexpected return: %s", got)
		}
		w.until(24900 * time.Millisecond)
		w.expect()
		w.until(25100 * time.Millisecond)
		if got := w.read(); !strings.HasSuffix(got, "routes "+full) {
			t.Errorf("not full after the hold: %s", got)
		}
	})
}

// near compares diaries whose times differ by at most 55 ms, the phase in
// which the service path fails beside the check.
func near(got, want string) bool {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		gt, gw, _ := strings.Cut(g[i], " ")
		wt, ww, _ := strings.Cut(w[i], " ")
		a, err1 := time.ParseDuration(gt)
		b, err2 := time.ParseDuration(wt)
		if err1 != nil || err2 != nil || gw != ww ||
			(a-b).Abs() > 55*time.Millisecond {
			return false
		}
	}
	return true
}

func TestLoopReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.say("main", probe.Refused)
		w.until(8 * time.Second)
		w.read()
		w.say("main", probe.Passed)
		w.until(20 * time.Second)
		got := w.read()
		if !strings.Contains(got, "raise\n") || !strings.HasSuffix(got, full) {
			t.Errorf("did not return: %s", got)
		}
	})
}

func TestLoopUnknownKeepsTheStance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.say("main", probe.Unmade)
		w.until(50 * time.Second)
		w.expect()
		w.until(80 * time.Second)
		if got := w.read(); !strings.Contains(got, "routes "+less) {
			t.Errorf("unknown for over 60 s is still full: %s", got)
		}
	})
}

func TestLoopFollowsTheLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.byHand("down", w.setDown)
		w.expect("4.1s by hand: down", "4.1s routes []")
		w.until(10 * time.Second)
		w.expect() // no fight
		if got := w.explain(); !strings.Contains(got, "by hand") {
			t.Errorf("unexpected reason: %q", got)
		}
		w.byHand("up", func() { w.link.Up = true })
		w.expect("10s by hand: up", "10s raise", "10s routes "+full)
	})
}

func TestLoopPutsBack(t *testing.T) {
	tests := []struct {
		name string
		f    func(*world)
		gone string // the routes in between
	}{
		{"link deleted",
			func(w *world) { w.link.Exists, w.link.Up, w.link.Present = false, false, nil }, "[]"},
		{"addresses deleted", func(w *world) { w.link.Present = nil }, "[]"},
		{"one address deleted", func(w *world) { w.link.Present = w.link.Present[:1] },
			"[192.0.2.53/32]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := up(t, nil)
				defer w.finish()
				w.until(4900 * time.Millisecond)
				w.byHand(tt.name, func() { tt.f(w) })
				w.until(5900 * time.Millisecond)
				w.expect("4.9s by hand: "+tt.name, "4.9s routes "+tt.gone,
					"4.9s raise", "4.9s routes "+full)
				if log := w.logs.String(); !strings.Contains(log,
					"link-lost") && !strings.Contains(log, "follow the link") {
					t.Errorf("no word of it in the log:\n%s", log)
				}
			})
		})
	}
}

func TestLoopNeverAnnouncesADeafAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.say(addr6.Addr().String(), probe.Refused)
		w.begin()
		defer w.finish()
		w.until(60 * time.Second)
		w.expect("0s routes []", "4s raise") // and no flapping
		if got := w.explain(); !strings.Contains(got,
			"no answer on the service address") {
			t.Errorf("unexpected reason: %q", got)
		}
		w.say(addr6.Addr().String(), probe.Passed)
		w.until(80 * time.Second)
		w.expect("1m1s routes " + full) // and its past is forgotten
	})
}

func TestLoopLeavesWhenTheServicePathFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.until(10500 * time.Millisecond) // the path is ok, after rise passes
		w.say(addr4.Addr().String(), probe.Refused)
		w.until(11400 * time.Millisecond)
		got := w.read()
		if !strings.Contains(got, "routes []") ||
			!strings.Contains(got, "lower") {
			t.Errorf("unexpected diary: %s", got)
		}
	})
}

// TestLoopSuspectsWithThePath proves that a service path that fails makes the
// configured checks look at once: both fall together, and the node is not
// raised again for the one that has not looked yet.
func TestLoopSuspectsWithThePath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.until(10050 * time.Millisecond)
		w.say("main", probe.Refused)
		w.say(addr4.Addr().String(), probe.Refused)
		w.say(addr6.Addr().String(), probe.Refused)
		w.until(12 * time.Second)
		if got := w.read(); strings.Contains(got, "raise") {
			t.Errorf("raised again though nobody listens: %s", got)
		}
	})
}

func TestLoopStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		stopped := w.loop.stopped
		w.loop.send(stopEvent{})
		<-stopped
		// The link stays: it goes after BGP has closed.
		w.expect("4.1s routes "+less, "5.1s routes []")
		if got := time.Since(w.start); got != 5300*time.Millisecond {
			t.Errorf("unexpected end: %s", got)
		}
	})
}

func TestLoopStopsInAHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		stopped := w.loop.stopped
		w.loop.send(stopEvent{})
		time.Sleep(100 * time.Millisecond)
		w.loop.send(stopEvent{hurry: true})
		<-stopped
		w.expect("4.1s routes "+less, "4.2s routes []")
	})
}

func TestLoopAnnouncesCoveringPrefixes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c *config.Service) {
			c.Announce = append(c.Announce, addr4.Masked(), addr6.Masked())
			c.Announce[0] = prefixOf("192.0.2.0/24")
			c.Announce[1] = prefixOf("2001:db8:9::/48")
		})
		w.begin()
		defer w.finish()
		w.until(4100 * time.Millisecond)
		w.expect("0s routes []", "4s raise",
			"4s routes [192.0.2.0/24 2001:db8:9::/48]")
	})
}

func TestLoopTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.broken, w.setErr = errTest, errTest
		w.begin()
		defer w.finish()
		w.until(5500 * time.Millisecond)
		w.broken, w.setErr = nil, nil
		w.read()
		w.until(8 * time.Second)
		got := w.read()
		if !strings.Contains(got, "raise") || !strings.HasSuffix(got, full) {
			t.Errorf("did not recover: %s", got)
		}
		if n := strings.Count(w.logs.String(), errTest.Error()); n != 2 {
			t.Errorf("want each error logged once, got %d:\n%s", n, w.logs)
		}
	})
}

func TestLoopIsSilentInSteadyState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.until(10 * time.Second)
		w.read()
		before := w.logs.Len()
		w.until(30 * time.Minute)
		w.expect()
		if got := w.logs.String()[before:]; got != "" {
			t.Errorf("unexpected log in a steady state:\n%s", got)
		}
	})
}

func TestSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		var stance, reason string
		ask := func() {
			if err := w.loop.call(context.Background(), func() {
				st := w.loop.snapshot()
				stance, reason = st.Services[0].Stance, st.Services[0].Reason
			}); err != nil {
				t.Fatal(err)
			}
		}
		ask()
		if stance != "announced" {
			t.Errorf("unexpected stance %q: %s", stance, reason)
		}
		w.mu.Lock()
		w.routes = nil // the router lost them, or the session is down
		w.mu.Unlock()
		ask()
		if stance != "withdrawn" || !strings.Contains(reason, "no established") {
			t.Errorf("unexpected stance %q: %s", stance, reason)
		}
	})
}

// TestLoopFollowsAForeignLink proves that the route goes with the link also when
// the link is not taken for ours any more.
func TestLoopFollowsAForeignLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.byHand("another alias, and down", func() {
			w.foreign = fmt.Errorf("alias: %w", netlinkx.ErrForeign)
			w.setDown()
		})
		w.expect("4.1s by hand: another alias, and down", "4.1s routes []")
		w.byHand("up", func() { w.link.Up = true })
		w.until(10 * time.Second)
		w.byHand("down again", w.setDown) // at once, not at the next try
		w.expect("4.1s by hand: up", "4.25s raise", "4.25s routes "+full,
			"10s by hand: down again", "10s routes []")
		w.byHand("the alias", func() { w.foreign = nil })
		w.inLoop(func() {
			if err := w.svc.linkTrouble(); err != nil {
				t.Errorf("still in status: %v", err)
			}
		})
	})
}

// TestLoopComesUpOnEvidence starts a service that has no service path, where
// nothing is known of others: that its check could not be made is no reason to
// announce it, any answer is.
func TestLoopComesUpOnEvidence(t *testing.T) {
	for _, tt := range []struct {
		cause probe.Cause
		want  bool
	}{{probe.Unmade, false}, {probe.Wrong, true}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil)
			w.svc.path = nil
			w.say("main", tt.cause)
			w.begin()
			defer w.finish()
			w.until(15 * time.Second)
			if got := strings.Contains(w.read(), "routes "+less); got != tt.want {
				t.Errorf("%s: announced: %t, want %t", tt.cause, got, tt.want)
			}
		})
	}
}
