package dnsx

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"recuse/netlinkx/netnstest"
	"recuse/probe"
	"recuse/probe/resulttest"
)

// resolver is where unbound listens inside the namespace; service is the
// service address.
const (
	resolver = "127.0.0.1:53"
	service  = "10.1.9.53"
)

// isolate is netnstest.Isolate with the service address on lo.
func isolate(t *testing.T, tools ...string) (inside bool) {
	t.Helper()
	if !netnstest.Isolate(t, append(tools, "ip")...) {
		return false
	}
	sh(t, "ip addr add "+service+"/32 dev lo")
	return true
}

// sh runs a command, its words apart by spaces.
func sh(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// unbound starts a resolver with the zone lan that listens on the addresses.
func unbound(t *testing.T, options string, listen ...string) *os.Process {
	t.Helper()
	conf := "server:\n  chroot: \"\"\n  username: \"\"\n  pidfile: \"\"\n  use-syslog: no\n  do-daemonize: no\n" +
		"  num-threads: 1\n  access-control: 0.0.0.0/0 allow\n  module-config: iterator\n" +
		"  local-zone: lan. static\n  local-data: \"lan. 60 IN SOA ns.lan. admin.lan. 1 2 3 4 60\"\n" + options + "\n"
	for _, addr := range listen {
		conf += "  interface: " + addr + "\n"
	}
	file := filepath.Join(t.TempDir(), "unbound.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unbound", "-d", "-c", file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("failed to end unbound: %v", err)
		}
		_ = cmd.Wait() // It was killed: the error says no more.
		if t.Failed() {
			t.Logf("unbound:\n%s", log.String())
		}
	})
	return cmd.Process
}

// eventually probes until the result has the cause, and fails the test if it
// has not within the patience.
func eventually(t *testing.T, p probe.Prober, cause probe.Cause) probe.Result {
	t.Helper()
	var last probe.Result
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if last = p.Probe(resulttest.Within(t, 5*brief)); last.Cause == cause {
			return last
		}
	}
	t.Fatalf("got %+v, want %v", last, cause)
	return last
}

// signal sends a signal to a process.
func signal(t *testing.T, p *os.Process, s os.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// TestUnbound proves against a real resolver, over each transport: the right
// zone, a wrong zone, a resolver that hangs, that goes on, and that is killed.
func TestUnbound(t *testing.T) {
	if !isolate(t, "unbound") {
		return
	}
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			process := unbound(t, "", "127.0.0.1")
			c := local(Server{Net: network, Addr: netip.MustParseAddrPort(resolver)})
			p := prober(t, c)
			resulttest.Want(t, eventually(t, p, probe.Passed), probe.Passed, "NXDOMAIN", true)
			c.SOA = "other"
			resulttest.Want(t, prober(t, c).Probe(resulttest.Within(t, patience)), probe.Wrong, "NXDOMAIN from zone lan. instead of other.", true)
			signal(t, process, syscall.SIGSTOP)
			resulttest.Want(t, eventually(t, p, probe.Silent), probe.Silent, "timeout", false)
			signal(t, process, syscall.SIGCONT)
			eventually(t, p, probe.Passed)
			signal(t, process, syscall.SIGKILL)
			resulttest.Want(t, eventually(t, p, probe.Refused), probe.Refused, "connection refused", false)
		})
	}
}

// TestUnboundPath proves the path of clients against a real resolver: one that
// listens on loopback only, one whose answers leave from another address, and
// one that is right; and that a filter on loopback sources turns the path to
// the node's own.
func TestUnboundPath(t *testing.T) {
	if !isolate(t, "unbound", "nft") {
		return
	}
	addr := netip.MustParseAddr(service)
	ready := prober(t, local(Server{Net: "udp", Addr: netip.MustParseAddrPort(resolver)}))
	question := Config{Name: "{random}.lan", SOA: "lan"}
	tests := []struct {
		name, options, listen string
		cause                 probe.Cause
		want                  string
	}{
		{"loopback only", "", "127.0.0.1", probe.Refused, service + ": connection refused"},
		{"wildcard", "", "0.0.0.0", probe.Wrong, service + ": answer from 127.0.0.1 instead of " + service},
		{"wildcard with packet info", "  interface-automatic: yes", "0.0.0.0", probe.Passed, "NXDOMAIN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unbound(t, tt.options, tt.listen)
			eventually(t, ready, probe.Passed)
			p := path(t, PathConfig{Addresses: []netip.Addr{addr}, Question: question})
			resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), tt.cause, tt.want, tt.cause != probe.Refused)
		})
	}
	t.Run("loopback sources are dropped", func(t *testing.T) {
		unbound(t, "", "127.0.0.1", service)
		eventually(t, ready, probe.Passed)
		sh(t, "nft add table ip t")
		sh(t, "nft add chain ip t in { type filter hook input priority 0 ; }")
		sh(t, fmt.Sprintf("nft add rule ip t in ip saddr 127.0.0.1 ip daddr %s udp dport 53 drop", service))
		p := path(t, PathConfig{Addresses: []netip.Addr{addr}, Question: question})
		resulttest.Want(t, p.Probe(resulttest.Within(t, brief)), probe.Silent, service+": timeout", false)
		for range 3 {
			resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "NXDOMAIN", true)
		}
		sh(t, "nft delete table ip t")
	})
}

// TestUnmadeByKernel proves what the kernel says when nothing can be sent.
func TestUnmadeByKernel(t *testing.T) {
	if !isolate(t, "nft") {
		return
	}
	sh(t, "ip route add unreachable 198.51.100.0/24")
	sh(t, "nft add table ip t")
	sh(t, "nft add chain ip t out { type filter hook output priority 0 ; }")
	sh(t, "nft add rule ip t out ip daddr 127.0.0.5 drop")
	tests := []struct{ name, addr, want string }{
		{"no route", "192.0.2.1", "no route to the server (ENETUNREACH)"},
		{"no route, IPv6", "2001:db8::1", "no route to the server (ENETUNREACH)"},
		{"unreachable", "198.51.100.1", "no way to the server (EHOSTUNREACH)"},
	}
	for _, tt := range tests {
		for _, network := range []string{"udp", "tcp"} {
			t.Run(tt.name+" "+network, func(t *testing.T) {
				s := Server{Net: network, Addr: netip.AddrPortFrom(netip.MustParseAddr(tt.addr), 53)}
				resulttest.Want(t, prober(t, local(s)).Probe(resulttest.Within(t, patience)), probe.Unmade, tt.want, false)
			})
		}
	}
	t.Run("firewall", func(t *testing.T) {
		resulttest.Want(t, prober(t, local(udpPort(t, "127.0.0.5:53"))).Probe(resulttest.Within(t, patience)), probe.Unmade,
			"not permitted (EPERM): a local firewall rule or a missing capability", false)
	})
	t.Run("no file descriptor", func(t *testing.T) {
		var old syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
		low := old
		low.Cur = 3 // What is open stays open; nothing more can be.
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old) }()
		for _, network := range []string{"udp", "tcp"} {
			s := Server{Net: network, Addr: netip.MustParseAddrPort(resolver)}
			resulttest.Want(t, prober(t, local(s)).Probe(resulttest.Within(t, patience)), probe.Unmade,
				"this process has no file descriptor left (EMFILE)", false)
		}
	})
}
