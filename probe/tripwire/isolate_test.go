package tripwire

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// insideVar is set in the copy of the test binary that has a network namespace
// of its own.
const insideVar = "RECUSE_TEST_INSIDE_NETNS"

// isolate runs the calling test again in a new network namespace, in a process
// of its own, and returns true in that one. The namespace goes with the process.
func isolate(t *testing.T, tools ...string) (inside bool) {
	t.Helper()
	if os.Getenv(insideVar) == t.Name() {
		if out, err := exec.CommandContext(t.Context(), "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			t.Fatalf("ip link set lo up: %v\n%s", err, out)
		}
		return true
	}
	need(t, tools...)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v=true", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), insideVar+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("failed inside the namespace: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("did not run inside the namespace:\n%s", out)
	}
	for line := range strings.Lines(string(out)) {
		if _, text, found := strings.Cut(line, ".go:"); found {
			t.Log(strings.TrimSpace(text)) // what it measured
		}
	}
	return false
}

// need skips the test, or fails it where that is asked for, without root or a
// tool.
func need(t *testing.T, tools ...string) {
	t.Helper()
	missing := ""
	if os.Geteuid() != 0 {
		missing = "root, for a network namespace"
	}
	for _, tool := range append(tools, "ip") {
		if _, err := exec.LookPath(tool); err != nil {
			missing = tool
		}
	}
	switch {
	case missing == "":
	case os.Getenv("RECUSE_TEST_REQUIRE_ROOT") == "1":
		t.Fatalf("needs %s", missing)
	default:
		t.Skipf("needs %s", missing)
	}
}
