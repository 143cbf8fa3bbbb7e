package netlinkx_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
)

// holdEnv makes the test binary a second agent, which holds the lock until its
// standard input ends.
const holdEnv = "RECUSE_TEST_HOLD"

// TestMain runs the tests, or is the second agent.
func TestMain(m *testing.M) {
	if os.Getenv(holdEnv) == "" {
		os.Exit(m.Run())
	}
	h, err := netlinkx.NewHolder(configOf(netlinkx.KindDummy))
	if err == nil {
		err = h.Lock()
	}
	fmt.Println(err)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// holder returns a holder on the kernel.
func holder(t *testing.T, c netlinkx.Config) *netlinkx.Holder {
	t.Helper()
	h, err := netlinkx.NewHolder(c)
	must(t, err)
	return h
}

// TestLockConflicts states which two holders of a namespace exclude each other.
func TestLockConflicts(t *testing.T) {
	p80 := []netip.Prefix{netip.MustParsePrefix("192.0.2.80/32")}
	tests := []struct {
		name string
		edit func(first, second *netlinkx.Config)
		want string // in the error, "" for none
	}{
		{"the same", func(a, b *netlinkx.Config) {}, "link/anycast0"},
		{"link of another service", func(a, b *netlinkx.Config) { b.Service, b.Addresses = "web", p80 }, "link/anycast0"},
		{"address on another link", func(a, b *netlinkx.Config) { b.Link = "anycast1" }, "address/192.0.2.53"},
		{"address on lo", func(a, b *netlinkx.Config) { b.Kind, b.Link = netlinkx.KindExisting, "lo" },
			"address/192.0.2.53"},
		{"link and address apart", func(a, b *netlinkx.Config) { b.Link, b.Addresses = "anycast1", p80 }, ""},
		{"two services on lo", func(a, b *netlinkx.Config) {
			a.Kind, a.Link = netlinkx.KindExisting, "lo"
			*b = *a
			b.Service, b.Addresses = "web", p80
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			netlinktest.NewNS(t)
			a, b := configOf(netlinkx.KindDummy), configOf(netlinkx.KindDummy)
			tt.edit(&a, &b)
			first, second := holder(t, a), holder(t, b)
			must(t, first.Lock())
			must(t, first.Lock()) // its own lock is no obstacle
			err := second.Lock()
			if tt.want == "" {
				must(t, err)
				must(t, errors.Join(first.Remove(), second.Remove()))
				return
			}
			want := fmt.Sprintf(`failed to lock link %q for service %q: %s is in use by another process, pid %d`,
				b.Link, b.Service, tt.want, os.Getpid())
			if !errors.Is(err, netlinkx.ErrInUse) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got error %v, want %s", err, want)
			}
			must(t, first.Remove())
			must(t, second.Lock()) // a failed Lock keeps nothing, and Remove frees all
			must(t, second.Remove())
		})
	}
}

// TestLockNamespaces lets two agents in two namespaces hold the same.
func TestLockNamespaces(t *testing.T) {
	for range 2 {
		done := make(chan error)
		go func() {
			netlinktest.NewNS(t)
			h, err := netlinkx.NewHolder(configOf(netlinkx.KindDummy))
			if err == nil {
				err = h.Lock() // held until the end of the process
			}
			done <- err
		}()
		must(t, <-done)
	}
}

// TestLockDies has a second process hold the lock, kills it, and takes it.
func TestLockDies(t *testing.T) {
	netlinktest.NewNS(t)
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), holdEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start()) // from this thread, so in its namespace
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "<nil>\n" {
		t.Errorf("the second agent got %q, %v", line, err)
	}

	h := holder(t, configOf(netlinkx.KindDummy))
	var inUse *netlinkx.InUseError
	if err := h.Lock(); !errors.As(err, &inUse) || inUse.PID != cmd.Process.Pid {
		t.Errorf("got error %v, want one that names pid %d", err, cmd.Process.Pid)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // says "killed"
	eventually(t, "lock what the killed agent held", func() bool { return h.Lock() == nil })
	must(t, h.Remove())
}

// eventually polls until the condition holds, for ten seconds at most.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("failed to %s within 10 s", what)
		}
	}
}
