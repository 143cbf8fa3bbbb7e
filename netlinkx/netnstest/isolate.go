// Package netnstest runs a test in a process with a network namespace of its
// own, which goes with the process. It is for tests whose goroutines, or whose
// children, must all be in there; netlinktest.NewNS moves one thread only.
package netnstest

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"recuse/netlinkx/netlinktest"
)

// insideVar names, in the copy of the test binary, the test that it is to run.
const insideVar = "RECUSE_TEST_INSIDE_NETNS"

// patience bounds the run of one test, its own waits included.
const patience = "2m"

// Isolate runs the calling test again in a copy of this test binary in a new
// network namespace in which lo is up, and returns true in that one. In the
// first it returns false when that has ended, and fails or skips as it did. It
// needs root, and the tools.
func Isolate(t *testing.T, tools ...string) (inside bool) {
	t.Helper()
	if os.Getenv(insideVar) == t.Name() {
		netlinktest.LoUp(t)
		return true
	}
	Need(t, tools...)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$",
		"-test.v=true", "-test.timeout="+patience)
	cmd.Env = append(os.Environ(), insideVar+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET,
		Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch {
	case err != nil:
		t.Errorf("failed inside the namespace: %v\n%s", err, text)
	case strings.Contains(text, "--- SKIP: "+t.Name()+" "):
		t.Skipf("skipped inside the namespace:\n%s", text)
	case !strings.Contains(text, "--- PASS: "+t.Name()+" "):
		t.Errorf("did not run inside the namespace:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if _, said, found := strings.Cut(line, ".go:"); found && err == nil {
			t.Log(strings.TrimSpace(said)) // what it measured
		}
	}
	return false
}

// Need skips the test for want of root or of a tool, or fails it where nothing
// may be wanting. RECUSE_TEST_UNPRIVILEGED=1 is want of root.
func Need(t testing.TB, tools ...string) {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv("RECUSE_TEST_UNPRIVILEGED") == "1" {
		netlinktest.Missing(t, "root, for a network namespace", errors.New("this is another user"))
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			netlinktest.Missing(t, tool, err)
		}
	}
}
