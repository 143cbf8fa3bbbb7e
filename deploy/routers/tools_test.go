package routers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// need skips the test if a program is missing or, for root, the privilege; with
// RECUSE_TEST_REQUIRE_ROOT=1 it fails instead.
func need(t *testing.T, root bool, programs ...string) {
	t.Helper()
	lack := func(reason string) {
		if os.Getenv("RECUSE_TEST_REQUIRE_ROOT") == "1" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			lack("needs " + p)
		}
	}
	if root && os.Getenv("RECUSE_TEST_UNPRIVILEGED") == "1" {
		t.Skip("makes network namespaces, and RECUSE_TEST_UNPRIVILEGED=1 is set")
	}
	if root && os.Geteuid() != 0 {
		lack("needs root to make network namespaces")
	}
}

// run returns the combined output of a command and fails the test if it fails.
func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("failed to run %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// write writes a file of the test and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatalf("failed to write %s: %v", path, err)
	}
	return path
}

// eventually polls until check returns nil, and fails the test with its last
// error after half a minute.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within 30 s: %v", what, err)
		case <-tick.C:
		}
	}
}

// namespaces counts the namespaces that this test binary has made.
var namespaces atomic.Int64

// A space is a network namespace that ends with the test.
type space struct{ name string }

// newSpace makes a network namespace with its loopback up.
func newSpace(t *testing.T) space {
	t.Helper()
	s := space{fmt.Sprintf("rr-%d-%d", os.Getpid(), namespaces.Add(1))}
	run(t, "ip", "netns", "add", s.name)
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "del", s.name).CombinedOutput(); err != nil {
			t.Errorf("failed to delete namespace %s: %v: %s", s.name, err, out)
		}
	})
	s.ip(t, "link", "set", "lo", "up")
	return s
}

// ip runs ip in the namespace.
func (s space) ip(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, append([]string{"ip", "-n", s.name}, args...)...)
}

// start runs a daemon in the namespace until the test ends, and returns a
// function that kills it before.
func (s space) start(t *testing.T, dir string, args ...string) (kill func()) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(dir, filepath.Base(args[0])+".out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatalf("failed to open the output of %s: %v", args[0], err)
	}
	defer log.Close()
	// ip netns exec replaces itself by the daemon, which so keeps the pid.
	cmd := exec.Command("ip", append([]string{"netns", "exec", s.name}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	// The daemon must not outlive a test binary that is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatalf("failed to start %s: %v", args[0], err)
	}
	done := false
	kill = func() {
		if !done {
			done = true
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	t.Cleanup(kill)
	return kill
}

// daemonDir returns a directory that FRR's user may use. t.TempDir is closed to
// it, and too long for a socket's path.
func daemonDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rr")
	if err != nil {
		t.Fatalf("failed to make a directory: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatalf("failed to open %s to all: %v", dir, err)
	}
	return dir
}
