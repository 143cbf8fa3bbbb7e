package tripwire

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/bpf"

	"recuse/netlinkx/netnstest"
	"recuse/probe"
	"recuse/probe/dnsx"
)

// everythingPasses is a filter that is none.
var everythingPasses = []bpf.Instruction{bpf.RetConstant{Val: 0xffff}}

// unbound starts a resolver and returns once it answers.
func unbound(t *testing.T, p probe.Prober) *exec.Cmd {
	t.Helper()
	conf := "server:\n  chroot: \"\"\n  username: \"\"\n  pidfile: \"\"\n  use-syslog: no\n  do-daemonize: no\n" +
		"  num-threads: 1\n  interface: 127.0.0.1\n  module-config: iterator\n" +
		"  local-zone: lan. static\n  local-data: \"lan. 60 IN SOA ns.lan. admin.lan. 1 2 3 4 60\"\n"
	file := filepath.Join(t.TempDir(), "unbound.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unbound", "-d", "-c", file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		res := p.Probe(ctx)
		cancel()
		if res.Cause == probe.Passed {
			return cmd
		}
		if time.Now().After(end) {
			t.Fatalf("the resolver does not answer: %+v", res)
		}
	}
}

// kill ends a resolver and returns when.
func kill(t *testing.T, cmd *exec.Cmd) time.Time {
	t.Helper()
	at := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // It was killed: the error says no more.
	return at
}

// asks returns a prober of the server.
func asks(t *testing.T) probe.Prober {
	t.Helper()
	p, err := dnsx.New(dnsx.Config{Server: dnsx.Server{Net: "udp", Addr: server}, Name: "{random}.lan", SOA: "lan"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a check with the default times and a budget, and returns what it
// reports of levels that change.
func run(t *testing.T, p probe.Prober) (*probe.Runner, <-chan probe.Report) {
	t.Helper()
	c := probe.Check{
		Name: "local-name", Interval: time.Second, Timeout: 500 * time.Millisecond,
		FastInterval: 50 * time.Millisecond, Rules: probe.Rules{Fall: 3, Rise: 2},
	}
	changes := make(chan probe.Report, 1000)
	r := probe.NewRunner(c, p, probe.NewBudget(), func(r probe.Report) {
		if r.Verdict.Level != r.Was {
			changes <- r
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r, changes
}

// reach waits for a level and returns when it was reported.
func reach(t *testing.T, changes <-chan probe.Report, l probe.Level) time.Time {
	t.Helper()
	for end := time.After(2 * patience); ; {
		select {
		case r := <-changes:
			if r.Verdict.Level == l {
				return time.Now()
			}
		case <-end:
			t.Fatalf("never %v", l)
		}
	}
}

// TestUnboundKilled proves with a real resolver and the default times how soon a
// SIGKILL trips the wire, and how soon the verdict is dead.
func TestUnboundKilled(t *testing.T) {
	if !netnstest.Isolate(t, "unbound") {
		return
	}
	w, err := Open(server)
	if err != nil {
		t.Fatal(err)
	}
	p := asks(t)
	r, changes := run(t, p)
	trips := make(chan time.Time, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- w.Run(ctx, func() {
			trips <- time.Now()
			r.Suspect()
		})
	}()
	var toTrip, toDead []time.Duration
	for range 10 {
		cmd := unbound(t, p)
		reach(t, changes, probe.OK)
		for len(trips) > 0 {
			<-trips
		}
		killed := kill(t, cmd)
		toTrip = append(toTrip, tripped(t, trips).Sub(killed))
		toDead = append(toDead, reach(t, changes, probe.Dead).Sub(killed))
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	t.Logf("SIGKILL to trip: %v; to dead: %v", toTrip, toDead)
	t.Logf("medians: %v and %v", median(toTrip), median(toDead))
	if got := median(toTrip); got > 100*time.Millisecond {
		t.Errorf("a trip takes a median of %v", got)
	}
	if got := median(toDead); got > 200*time.Millisecond {
		t.Errorf("the verdict takes a median of %v", got)
	}
}

// TestUnboundLine proves that the end of an idle TCP connection trips when a
// resolver is killed, and again after it was started anew.
func TestUnboundLine(t *testing.T) {
	if !netnstest.Isolate(t, "unbound") {
		return
	}
	p := asks(t)
	ctx, cancel := context.WithCancel(t.Context())
	trips, ended := make(chan time.Time, 1000), make(chan error, 1)
	l := NewLine(server)
	connected := make(chan struct{}, 1000)
	dial := l.dial
	l.dial = func(ctx context.Context) (net.Conn, error) {
		c, err := dial(ctx)
		if err == nil {
			connected <- struct{}{}
		}
		return c, err
	}
	cmd := unbound(t, p)
	go func() { ended <- l.Run(ctx, func() { trips <- time.Now() }) }()
	var took []time.Duration
	for i := range 2 {
		if i > 0 {
			cmd = unbound(t, p)
		}
		select {
		case <-connected:
		case <-time.After(2 * patience):
			t.Fatal("no connection")
		}
		killed := kill(t, cmd)
		took = append(took, tripped(t, trips).Sub(killed))
	}
	t.Logf("SIGKILL to trip: %v", took)
	cancel()
	if err := <-ended; err != nil || len(trips) > 0 {
		t.Errorf("ended with %v and %d trips", err, len(trips))
	}
}
