package topology

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestEndOfTheDying ends processes that are just ending by themselves: whoever
// is first, it is no error.
func TestEndOfTheDying(t *testing.T) {
	if os.Geteuid() != 0 || os.Getenv("RECUSE_TEST_UNPRIVILEGED") == "1" {
		t.Skip("skipped: a network namespace needs root, whose absence TestLab makes a failure where it must be")
	}
	ns, err := newNamespace(fmt.Sprintf("%s%d-test-dying", prefix, os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ns.close(); err != nil {
			t.Error(err)
		}
	})
	p := newProcess(ns, "dying", filepath.Join(t.TempDir(), "log"), func() []string { return []string{"/bin/true"} })
	if err := p.Signal(os.Kill); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("error %v of a signal to what was never started", err)
	}
	for range 50 {
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		if err := p.End(); err != nil || p.Running() {
			t.Fatalf("ended: running %v, %v", p.Running(), err)
		}
	}
}
