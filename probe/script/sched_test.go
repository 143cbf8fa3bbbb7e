package script

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"recuse/probe"
)

// TestSchedulingIsNotInherited proves that a program that a real-time agent
// starts is an ordinary one: this test runs itself under SCHED_RR, and a program
// there that looks at its own policy.
func TestSchedulingIsNotInherited(t *testing.T) {
	const realtime = "RECUSE_TEST_REALTIME"
	if os.Getenv(realtime) == "" {
		cmd := exec.Command("chrt", "-r", "5", os.Args[0], "-test.v",
			"-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), realtime+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil && os.Geteuid() != 0 &&
			os.Getenv("RECUSE_TEST_REQUIRE_ROOT") != "1" {
			t.Skipf("skipped: no leave for real-time scheduling: %s", out)
		}
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	// Fields 40 and 41 of stat(5) are the real-time priority and the policy.
	const look = `set -- $(cut -d' ' -f40,41 /proc/$$/stat); echo "$*"; [ "$*" = "0 0" ]`
	self, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	if f := strings.Fields(string(self)); f[40] != "2" {
		t.Fatalf("this test has policy %s, want 2 (SCHED_RR)", f[40])
	}
	p, err := New(Config{Command: []string{"/bin/sh", "-c", look}, Check: "c"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if r := p.Probe(ctx); r.Cause != probe.Passed {
		t.Errorf("the program has a real-time policy: %s", r.Outcome)
	}
}
