package topology

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSignalTree stops and then kills a shell and the command of a group of its
// own that the shell has started, by the kernel's word of both.
func TestSignalTree(t *testing.T) {
	dir := t.TempDir()
	shell := exec.Command("sh", "-c", `setsid sleep 1000 & echo $! >`+dir+`/pid.new; mv `+dir+`/pid.new `+dir+`/pid; wait`)
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	await(t, "the child's pid", func() (bool, string) {
		text, err := os.ReadFile(dir + "/pid")
		if err != nil {
			return false, err.Error()
		}
		child, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && child > 1, string(text)
	})
	both := []int{shell.Process.Pid, child}
	states := func(want string) {
		t.Helper()
		for _, pid := range both {
			await(t, "state "+want, func() (bool, string) {
				saw := stateOf(pid)
				return strings.Contains(want, saw), saw
			})
		}
	}
	signal := func(s syscall.Signal) {
		t.Helper()
		if err := signalTree([]int{shell.Process.Pid}, s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	states("T")
	signal(syscall.SIGCONT)
	states("S")
	signal(syscall.SIGKILL)
	_ = shell.Wait() // killed, as it should be
	states("ZX-")
	signal(syscall.SIGKILL) // of what is gone: no error
}

// await is Within for a test.
func await(t *testing.T, what string, condition func() (bool, string)) {
	t.Helper()
	if err := Within(t.Context(), 20*time.Second, what, condition); err != nil {
		t.Fatal(err)
	}
}

// stateOf is the letter of a process's state (proc(5)), "-" if there is none.
func stateOf(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "-"
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}
