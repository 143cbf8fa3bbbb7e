package netns

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/topology"
)

// TestStateOf follows a process of our own through its states.
func TestStateOf(t *testing.T) {
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pid := c.Process.Pid
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	wait := func(want string) {
		t.Helper()
		if err := topology.WaitFor(ctx, "state "+want, func() (bool, string) {
			got := stateOf(pid)
			return got == want, got
		}); err != nil {
			t.Error(err)
		}
	}
	wait(processRuns)
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	wait(processFrozen)
	if err := c.Process.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed, as its state shows
	wait(processGone)
}

// TestProcessEvents: each lane that the log fills hears of it.
func TestProcessEvents(t *testing.T) {
	var got []string
	for _, e := range processEvents("n1", processFrozen, time.Time{}) {
		got = append(got, e.Lane+" "+e.Part+" "+e.State)
	}
	want := []string{"n1 checks process frozen", "n1 stance process frozen", "n1 bgp process frozen", "n1 bfd process frozen"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected events (-want +got):\n%s", diff)
	}
}
