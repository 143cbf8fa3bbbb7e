package topology

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// TestSweep lays out what living, dead and careful runs leave and sweeps: only
// the dead ones' things go.
func TestSweep(t *testing.T) {
	testNamespace(t, "root") // root, or no test
	living, err := newRunDir(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := living.close(false); err != nil {
			t.Error(err)
		}
	})
	kept, err := newRunDir(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(kept.path) })
	if err := kept.close(true); err != nil {
		t.Fatal(err)
	}
	// No process has the pid 0 or one beyond the largest.
	dead := filepath.Join(base, "4194305-0001")
	if err := os.MkdirAll(dead, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dead, "lock"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{ // name: is it to stay
		living.namespace("n1"):               true,
		prefix + "4194305-0001-n1":           false, // its directory's lock is free
		prefix + "4194305-0002-n1":           false, // its directory is gone, its owner too
		fmt.Sprintf("other-%d", os.Getpid()): true,
	}
	for name := range names {
		ns, err := newNamespace(name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = ns.close() }() // the swept ones are gone already
	}
	// An owner that was killed between making the name and binding it.
	half := filepath.Join(netnsDir, prefix+"4194305-0003-n1")
	if err := os.WriteFile(half, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	names[filepath.Base(half)] = false
	next, err := newRunDir(slog.New(slog.DiscardHandler)) // sweeps
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = next.close(false) }()
	for name, stays := range names {
		if got := exists(filepath.Join(netnsDir, name)); got != stays {
			t.Errorf("namespace %s is there: %v, want %v", name, got, stays)
		}
	}
	for dir, stays := range map[string]bool{living.path: true, kept.path: true, dead: false} {
		if got := exists(dir); got != stays {
			t.Errorf("directory %s is there: %v, want %v", dir, got, stays)
		}
	}
}
