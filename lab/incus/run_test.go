package incus

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recuse/lab/topology"
	"recuse/netlinkx/netnstest"
)

// await waits until a condition holds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	if err := topology.Within(t.Context(), 30*time.Second, what, func() (bool, string) { return condition(), "" }); err != nil {
		t.Fatal(err)
	}
}

// TestSweep leaves a run behind as a killed owner does, with a process and a
// mount, beside one whose owner lives, and wants the next run to take away the
// first and nothing of the second.
func TestSweep(t *testing.T) {
	netnstest.Need(t)
	living, err := newRun("test-living")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = living.close() })
	dead := filepath.Join(base, "test-dead")
	mount := filepath.Join(dead, "mount")
	if err := os.MkdirAll(mount, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", mount, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	left := exec.Command("sh", "-c", "sleep 1000; :", dead+"/incusd.log")
	stays := exec.Command("sh", "-c", "sleep 1000; :", living.path+"/incusd.log")
	for _, cmd := range []*exec.Cmd{left, stays} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	next, err := newRun("test-next")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = next.close() })
	_ = left.Wait() // killed, as it should be
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead run's directory: %v", err)
	}
	if err := unix.Kill(stays.Process.Pid, 0); err != nil {
		t.Errorf("the living run's process: %v", err)
	}
	if err := living.close(); err != nil {
		t.Error(err)
	}
	_ = stays.Wait() // killed with its run
	if _, err := os.Stat(living.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the closed run's directory: %v", err)
	}
}

// TestShellEnds wants a script that is given up to end with what it started.
func TestShellEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- shell(ctx, `sh -c 'echo $$ >"$1.new"; mv "$1.new" "$1"; sleep 1000; :' sh "$1"`, file) }()
	await(t, "the script's child", func() bool { _, err := os.Stat(file); return err == nil })
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the script ended with %v", err)
	}
	await(t, "the child's end", func() bool {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// TestDefinition wants a container's interfaces on the lab's bridges under the
// names that the lab expects, and its mounts.
func TestDefinition(t *testing.T) {
	b := &box{name: "r1", networks: topology.RouterPorts, mounts: map[string]string{"/lab": "/d/r1", "/a": "/b"}}
	want := `devices:
  cl0: {type: nic, nictype: bridged, parent: clients, name: cl0, host_name: r1-clients}
  lan0: {type: nic, nictype: bridged, parent: lan, name: lan0, host_name: r1-lan}
  wan0: {type: nic, nictype: bridged, parent: wan, name: wan0, host_name: r1-wan}
  mount0: {type: disk, source: "/b", path: "/a"}
  mount1: {type: disk, source: "/d/r1", path: "/lab"}
`
	if got := b.definition(); got != want {
		t.Errorf("definition:\n%s\nwant:\n%s", got, want)
	}
}
