package topology

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestEndOfTheDying ends processes that are just ending by themselves: whoever
// is first, it is no error.
func TestEndOfTheDying(t *testing.T) {
	ns := testNamespace(t, "dying")
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
