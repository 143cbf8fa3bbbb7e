package bfd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// envInside tells a test binary that it already runs in a network namespace
// of its own.
const envInside = "RECUSE_BFD_TEST_INSIDE"

// TestMain runs the tests of root in a fresh network namespace, by starting
// the same binary once more in one. So sockets and links of tests cannot meet
// those of the machine, whatever goroutine and thread makes them; and when the
// inner process is gone, however it ended, the outer one cleans up.
func TestMain(m *testing.M) {
	if os.Getuid() != 0 || os.Getenv(envInside) != "" || fuzzing() {
		os.Exit(m.Run())
	}
	os.Exit(runInside())
}

// fuzzing reports whether this process is a part of go test -fuzz, which
// speaks to its workers through inherited files.
func fuzzing() bool {
	for _, a := range os.Args {
		if strings.HasPrefix(a, "-test.fuzz") {
			return true
		}
	}
	return false
}

// runInside runs the binary in a new network namespace and returns its exit
// code.
func runInside() int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "failed to find the test binary:", err)
		return 1
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), envInside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "failed to start the tests in a network namespace:", err)
		return 1
	}
	err = cmd.Wait()
	removeNamespaces(cmd.Process.Pid)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "tests in a network namespace:", err)
		return 1
	}
	return 0
}

// namespacePrefix begins the names of the namespaces that process pid makes.
func namespacePrefix(pid int) string { return fmt.Sprintf("bfd-%d-", pid) }

// removeNamespaces removes what a process left behind: its namespaces and
// what runs in them.
func removeNamespaces(pid int) {
	left, _ := filepath.Glob("/run/netns/" + namespacePrefix(pid) + "*")
	for _, path := range left {
		removeNamespace(filepath.Base(path))
	}
}

// removeNamespace ends the processes in a namespace and deletes it.
func removeNamespace(name string) {
	pids, _ := exec.Command("ip", "netns", "pids", name).Output()
	for _, p := range strings.Fields(string(pids)) {
		if pid, err := strconv.Atoi(p); err == nil && pid != os.Getpid() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	exec.Command("ip", "netns", "delete", name).Run()
}

// needRoot skips a test that this process cannot run, or fails it if the
// environment says that it must run.
func needRoot(t testing.TB, tools ...string) {
	t.Helper()
	missing := ""
	if os.Getuid() != 0 {
		missing = "needs root"
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			missing = "needs " + tool
		}
	}
	switch {
	case missing == "":
	case os.Getenv("RECUSE_TEST_REQUIRE_ROOT") == "1":
		t.Fatal(missing)
	default:
		t.Skip(missing)
	}
}
