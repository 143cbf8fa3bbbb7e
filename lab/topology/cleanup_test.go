package topology_test

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// itoa is strconv.Itoa, for paths.
func itoa(n int) string { return strconv.Itoa(n) }

// leftNothing fails the test if anything of the lab, or with "" of any lab of
// this process, is left: a namespace, a directory.
func leftNothing(t *testing.T, id string) {
	t.Helper()
	if id == "" {
		id = itoa(os.Getpid()) + "-"
	}
	for _, pattern := range []string{"/run/netns/recuse-lab-" + id + "*", "/run/recuse-lab/" + id + "*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			t.Errorf("left behind: %v", found)
		}
	}
}

// gone reports whether no process has the pid, or only a dead one.
func gone(pid int) bool {
	text, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return err == nil && strings.HasPrefix(rest, "Z")
}

// pids are the processes of a lab.
func pids(t *testing.T, lab *topology.Lab) []int {
	t.Helper()
	list := []int{lab.Authority.PID()}
	for _, n := range lab.Nodes {
		list = append(list, n.Resolver.PID())
	}
	out, err := exec.Command("pgrep", "-f", lab.Dir()).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}

// TestClose shows that Close leaves nothing, also of a frozen node, and may be
// called again.
func TestClose(t *testing.T) {
	for _, router := range []string{topology.FRR, topology.BIRD} {
		t.Run(router, func(t *testing.T) {
			lab := labtest.StartBare(t, topology.Options{Nodes: 2, Router: router})
			if err := lab.Nodes[0].Freeze(); err != nil {
				t.Fatal(err)
			}
			processes := pids(t, lab)
			if want := map[string]int{topology.FRR: 8, topology.BIRD: 7}[router]; len(processes) < want {
				t.Fatalf("found only the processes %v", processes)
			}
			if err := errors.Join(lab.Close(), lab.Close()); err != nil {
				t.Fatal(err)
			}
			for _, pid := range processes {
				if !gone(pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
			leftNothing(t, lab.ID())
			if _, err := lab.Client.Run(t.Context(), "true"); err == nil {
				t.Error("a command runs in a closed lab")
			}
		})
	}
}

// TestNewFails lets each later step of a start fail or be interrupted: nothing
// is left.
func TestNewFails(t *testing.T) {
	labtest.Require(t, topology.FRR)
	binary := labtest.Build(t) + "/recuse-authority"
	cause := errors.New("interrupted")
	tests := []struct {
		name    string
		change  func(*topology.Options, context.CancelCauseFunc)
		message string
	}{
		{"no authority", func(o *topology.Options, _ context.CancelCauseFunc) {
			o.Authority = []string{"/nonexistent"}
		}, "/nonexistent"},
		{"authority ends at once", func(o *topology.Options, _ context.CancelCauseFunc) {
			o.Authority = []string{"/bin/false"}
		}, "authority has ended"},
		{"router configuration fails", func(o *topology.Options, _ context.CancelCauseFunc) {
			o.RouterConfig = func(string, []string) (string, error) { return "", errors.New("no ink") }
		}, "no ink"},
		{"resolver refuses its configuration", func(o *topology.Options, _ context.CancelCauseFunc) {
			o.ResolverExtra = "no-such-option: yes"
		}, "no-such-option"},
		{"interrupted", func(o *topology.Options, cancel context.CancelCauseFunc) {
			o.RouterConfig = func(string, []string) (string, error) { cancel(cause); return "", nil }
		}, "interrupted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			o := topology.Options{Nodes: 1, Authority: []string{binary}}
			tt.change(&o, cancel)
			lab, err := topology.New(ctx, o)
			if err == nil {
				t.Errorf("the lab came up: %v", lab.Close())
			} else if !strings.Contains(err.Error(), tt.message) {
				t.Errorf("error %v, want one with %q", err, tt.message)
			}
			leftNothing(t, "")
		})
	}
}

// TestContextEnds shows that a lab closes itself when its context ends.
func TestContextEnds(t *testing.T) {
	labtest.Require(t, topology.FRR)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	lab, err := topology.New(ctx, topology.Options{Nodes: 1, Authority: []string{labtest.Build(t) + "/recuse-authority"}})
	if err != nil {
		t.Fatal(err)
	}
	processes := pids(t, lab)
	cancel()
	if err := lab.Close(); err != nil { // waits for the same end
		t.Error(err)
	}
	for _, pid := range processes {
		if !gone(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
	leftNothing(t, lab.ID())
}

// ownerVariable makes this test binary raise a lab, say so, and wait.
const ownerVariable = "RECUSE_LAB_TEST_OWNER"

// TestOwnerKilled kills the owner of a lab: its processes die with it, and the
// next lab sweeps the rest.
func TestOwnerKilled(t *testing.T) {
	if router := os.Getenv(ownerVariable); router != "" {
		lab := labtest.StartBare(t, topology.Options{Nodes: 1, Router: router})
		os.Stdout.WriteString("lab " + lab.ID() + "\n")
		<-t.Context().Done()
	}
	for _, router := range []string{topology.FRR, topology.BIRD} {
		t.Run(router, func(t *testing.T) {
			labtest.Require(t, router)
			labtest.Build(t) // so that the owner has nothing to build
			owner := exec.Command(os.Args[0], "-test.run", "^TestOwnerKilled$", "-test.v")
			owner.Env = append(os.Environ(), ownerVariable+"="+router)
			id := startOwner(t, owner)
			out, err := exec.Command("pgrep", "-f", "/run/recuse-lab/"+id).Output()
			if err != nil {
				t.Fatal(err)
			}
			processes := strings.Fields(string(out))
			if len(processes) < 3 {
				t.Fatalf("found only the processes %v", processes)
			}
			if err := owner.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = owner.Wait() // it was killed, as asked
			for _, p := range processes {
				pid, err := strconv.Atoi(p)
				if err != nil {
					t.Fatal(err)
				}
				if err := topology.Within(t.Context(), soon, "process "+p+" end", func() (bool, string) {
					return gone(pid), "still there"
				}); err != nil {
					t.Error(err)
				}
			}
			labtest.StartBare(t, topology.Options{Nodes: 1, WithoutResolver: true})
			leftNothing(t, id)
		})
	}
}

// startOwner starts the other process and returns its lab's id.
func startOwner(t *testing.T, owner *exec.Cmd) string {
	t.Helper()
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Process.Kill() }) // if the test stops before it does
	found := make(chan string, 1)
	go func() {
		defer close(found)
		for s := bufio.NewScanner(out); s.Scan(); {
			if id, ok := strings.CutPrefix(s.Text(), "lab "); ok {
				found <- id
				return
			}
		}
	}()
	select {
	case id := <-found:
		if id == "" {
			t.Fatal("the owner ended without a lab")
		}
		return id
	case <-time.After(30 * time.Second):
		t.Fatal("the owner raised no lab")
	}
	return ""
}
