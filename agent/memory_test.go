package agent

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/agent/control"
)

// keep runs a keeper over one memory and gives its log.
func keep(t *testing.T, dir string, ms ...memory) string {
	t.Helper()
	var log bytes.Buffer
	k := newKeeper(dir, slog.New(slog.NewTextHandler(&log, nil)))
	for _, m := range ms {
		k.offer(m, time.Now())
		select {
		case next := <-k.next:
			k.save(next)
		default: // not worth a writing
		}
	}
	return log.String()
}

func TestMemoryOutlivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "made", "when", "needed")
		now := time.Now()
		s := &service{state: State{Hold: Hold{Until: now.Add(4 * time.Second),
			Last: now.Add(-6 * time.Second), Span: 10 * time.Second,
			Manual: true}},
			wishes: wishes{command: true, force: true, reason: "disk",
				until: now.Add(30 * time.Minute)}}
		if log := keep(t, dir, memory{"dns": s.remember(now)}); log != "" {
			t.Fatalf("unexpected log: %s", log)
		}
		time.Sleep(48 * time.Hour) // the box was off: spans, not clock times
		kept, err := newKeeper(dir, slog.Default()).load()
		if err != nil {
			t.Fatal(err)
		}
		later := time.Now()
		back := service{rules: Rules{Manual: true, HoldMax: 5 * time.Minute}}
		back.recall(kept["dns"], later)
		want := Hold{Until: later.Add(4 * time.Second),
			Last: later.Add(-6 * time.Second), Span: 10 * time.Second,
			Manual: true}
		if diff := cmp.Diff(want, back.state.Hold); diff != "" {
			t.Errorf("unexpected hold (-want +got):\n%s", diff)
		}
		auto := service{rules: Rules{HoldMax: 5 * time.Minute}}
		auto.recall(kept["dns"], later)
		if want.Manual = false; auto.state.Hold != want {
			t.Errorf("failback is auto by now, and the hold is %+v", auto.state.Hold)
		}
		short := service{rules: Rules{HoldMax: time.Second}}
		short.recall(kept["dns"], later)
		if h := short.state.Hold; h.Span > time.Second || h.Until.After(later.Add(time.Second)) {
			t.Errorf("hold.max is 1s by now, and the hold is %+v", h)
		}
		w := back.wishes
		if !w.command || !w.force || w.reason != "disk" ||
			!w.until.Equal(later.Add(30*time.Minute)) {
			t.Errorf("unexpected drain: %+v", w)
		}
	})
}

// TestKeeperEnds proves that the last word is written, and that a disk that
// hangs is not waited for.
func TestKeeperEnds(t *testing.T) {
	k := newKeeper(t.TempDir(), slog.Default())
	ctx, end := context.WithCancel(context.Background())
	end()
	k.offer(memory{"dns": {Drained: true}}, t0)
	go k.run(ctx)
	k.wait(time.Minute)
	if kept, err := k.load(); err != nil || !kept["dns"].Drained {
		t.Errorf("the last word is lost: %+v, %v", kept, err)
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		hangs := newKeeper("/hangs", slog.New(slog.NewTextHandler(&log, nil)))
		start := time.Now()
		hangs.wait(keepWithin)
		if d := time.Since(start); d != keepWithin ||
			!strings.Contains(log.String(), "/hangs") {
			t.Errorf("unexpected wait of %s: %s", d, &log)
		}
	})
}

func TestMemoryIsWrittenWhenItMatters(t *testing.T) {
	k := newKeeper(t.TempDir(), slog.Default())
	offered := func(r remembered, at time.Duration) bool {
		k.offer(memory{"dns": r}, t0.Add(at))
		select {
		case <-k.next:
			return true
		default:
			return false
		}
	}
	s := func(d time.Duration) control.Duration { return control.Duration(d) }
	for _, tt := range []struct {
		name string
		r    remembered
		at   time.Duration
		want bool
	}{
		{"the first", remembered{}, 0, true},
		{"no change", remembered{}, time.Hour, false},
		{"a drain", remembered{Drained: true, DrainLeft: s(10 * time.Hour)}, time.Hour, true},
		{"its time runs", remembered{Drained: true, DrainLeft: s(9 * time.Hour)},
			time.Hour + 59*time.Second, false},
		{"a minute later", remembered{Drained: true, DrainLeft: s(8 * time.Hour)},
			time.Hour + time.Minute, true},
		{"a hold", remembered{HoldSpan: s(time.Second), HoldLeft: s(time.Second)},
			time.Hour + time.Minute, true},
	} {
		if got := offered(tt.r, tt.at); got != tt.want {
			t.Errorf("%s: written %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestMemoryTroubleIsAnAlarm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := keep(t, file, memory{"a": {}}, memory{"b": {}})
	if strings.Count(log, "level=ERROR") != 1 || !strings.Contains(log, file) {
		t.Errorf("want one alarm that names the path, got:\n%s", log)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, memoryFile), []byte("{"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newKeeper(dir, slog.Default()).load(); err == nil {
		t.Error("a torn file is no error")
	}
	if kept, err := newKeeper(t.TempDir(), slog.Default()).load(); err != nil ||
		kept != nil {
		t.Errorf("no file: unexpected %v, %v", kept, err)
	}
}

// TestMemoryOfALongHold proves that a hold is kept which outlasts the time for
// which a leaving counts.
func TestMemoryOfALongHold(t *testing.T) {
	s := &service{state: State{Hold: Hold{}.left(
		Rules{HoldMin: time.Hour, HoldMax: time.Hour}, t0)}}
	later := t0.Add(20 * time.Minute)
	if got := time.Duration(s.remember(later).HoldLeft); got != 40*time.Minute {
		t.Errorf("got %s left of the hold, want 40m", got)
	}
	if got := s.remember(t0.Add(time.Hour)); got != (remembered{}) {
		t.Errorf("a hold that is over is kept: %+v", got)
	}
}
