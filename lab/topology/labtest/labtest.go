// Package labtest raises labs for tests: it builds the binaries, checks for
// root and tools, closes the lab, and prints what the daemons said if the test
// failed.
package labtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"recuse/lab/topology"
)

// Binaries is an environment variable: a directory that holds recuse and
// recuse-authority. Without it they are built from the sources.
const Binaries = "RECUSE_TEST_BIN"

// Variables that, set to 1, turn a missing privilege into a failure, and leave
// out what needs privileges although they are there.
const (
	requireRoot  = "RECUSE_TEST_REQUIRE_ROOT"
	unprivileged = "RECUSE_TEST_UNPRIVILEGED"
)

// Require skips the test if this box cannot raise a lab with that router, or
// fails it where the environment says that nothing may be skipped.
func Require(t testing.TB, router string) {
	t.Helper()
	err := topology.Missing(router)
	switch {
	case os.Getenv(unprivileged) == "1":
		t.Skipf("skipped: %s=1, and a lab needs root", unprivileged)
	case err == nil:
	case os.Getenv(requireRoot) == "1":
		t.Fatalf("failed to raise lab: %v", err)
	default:
		t.Skipf("skipped: %v", err)
	}
}

// Start raises a lab with agents that ends with the test. The paths of the
// binaries are filled in.
func Start(t testing.TB, o topology.Options) *topology.Lab {
	t.Helper()
	require(t, o)
	dir := Build(t)
	if o.Recuse == "" {
		o.Recuse = filepath.Join(dir, "recuse")
	}
	return raise(t, dir, o)
}

// StartBare raises a lab without agents.
func StartBare(t testing.TB, o topology.Options) *topology.Lab {
	t.Helper()
	require(t, o)
	return raise(t, Build(t), o)
}

// require is Require for the router of a lab.
func require(t testing.TB, o topology.Options) {
	t.Helper()
	router := o.Router
	if router == "" {
		router = topology.FRR
	}
	Require(t, router)
}

// raise raises the lab and leaves its end to the test's cleanup. The lab does
// not take the test's context: that ends before the cleanup prints the logs.
func raise(t testing.TB, dir string, o topology.Options) *topology.Lab {
	t.Helper()
	o.Authority = []string{filepath.Join(dir, "recuse-authority")}
	lab, err := topology.New(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(lab.Logs())
		}
		if err := lab.Close(); err != nil {
			t.Errorf("failed to close lab: %v", err)
		}
	})
	return lab
}

// Build builds the binaries into bin/ of the module and returns that directory.
// What is up to date is left as it is, and a lock lets one test build at a time.
func Build(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(Binaries); dir != "" {
		return dir
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatalf("failed to make bin: %v", err)
	}
	lock, err := os.Create(filepath.Join(dir, ".lock"))
	if err != nil {
		t.Fatalf("failed to open build lock: %v", err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatalf("failed to take build lock: %v", err)
	}
	cmd := exec.Command("go", "build", "-o", dir+"/", "./cmd/recuse", "./lab/authority/recuse-authority")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("failed to build binaries: %v\n%s", err, out)
	}
	return dir
}

// moduleRoot is the directory of go.mod.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("failed to find module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
