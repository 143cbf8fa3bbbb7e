package agent

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAlarms raises and ends two, and finds them in a fixed order.
func TestAlarms(t *testing.T) {
	var a alarms
	a.set("b", "second")
	a.set("a", "first")
	a.set("b", "second, again")
	if diff := cmp.Diff([]string{"first", "second, again"}, a.list()); diff != "" {
		t.Errorf("unexpected alarms (-want +got):\n%s", diff)
	}
	a.set("a", "")
	a.set("b", "")
	if diff := cmp.Diff([]string{}, a.list()); diff != "" {
		t.Errorf("unexpected alarms (-want +got):\n%s", diff)
	}
}

// TestKeeperTells raises an alarm while the state_dir cannot be written.
func TestKeeperTells(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	var told []string
	k := newKeeper(dir, slog.New(slog.NewTextHandler(&log, nil)))
	k.tell = func(fault string) { told = append(told, fault) }
	k.save(memory{})
	k.save(memory{})
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	k.save(memory{})
	if len(told) != 2 || !strings.Contains(told[0], "state_dir") || told[1] != "" {
		t.Errorf("unexpected alarms: %q", told)
	}
}

// TestReloadRefusedIsAnAlarm keeps it until a reload succeeds.
func TestReloadRefusedIsAnAlarm(t *testing.T) {
	l := newLoop(slog.New(slog.DiscardHandler), nil, nil, About{})
	l.noteReload(errors.New("bgp.asn: missing\nservices: missing"))
	want := []string{"the last reload was refused: bgp.asn: missing"}
	if diff := cmp.Diff(want, l.alarms.list()); diff != "" {
		t.Errorf("unexpected alarms (-want +got):\n%s", diff)
	}
	l.noteReload(nil)
	if got := l.alarms.list(); len(got) != 0 {
		t.Errorf("unexpected alarms: %q", got)
	}
}
