package bgp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// labCount makes the names of namespaces unique in this process.
var labCount atomic.Int32

// lab is a set of network namespaces, joined as a test wishes, with router
// daemons and speakers in them. All of it ends with the test.
type lab struct {
	t      testing.TB
	prefix string
}

// newLab needs root and the ip command. Tests with a lab of their own run beside
// each other: they wait most of the time.
func newLab(t testing.TB, tools ...string) *lab {
	t.Helper()
	if p, ok := t.(interface{ Parallel() }); ok {
		p.Parallel()
	}
	lack := ""
	if os.Geteuid() != 0 {
		lack = "not root"
	}
	for _, tool := range append(tools, "ip") {
		if _, err := exec.LookPath(tool); err != nil {
			lack = "no " + tool
		}
	}
	if lack != "" {
		if os.Getenv("RECUSE_TEST_REQUIRE_ROOT") == "1" {
			t.Fatalf("namespace test cannot run: %s", lack)
		}
		t.Skipf("namespace test needs more: %s", lack)
	}
	return &lab{t: t, prefix: fmt.Sprintf("rb%d-%d", os.Getpid(), labCount.Add(1))}
}

// must runs a command and returns its output.
func (l *lab) must(args ...string) string {
	l.t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		l.t.Fatalf("failed to run %v: %v: %s", args, err, stderr.String())
	}
	return string(out)
}

// ns makes a namespace.
func (l *lab) ns(name string) string {
	l.t.Helper()
	full := l.prefix + name
	l.must("ip", "netns", "add", full)
	l.t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", full).Run() })
	l.must("ip", "-n", full, "link", "set", "lo", "up")
	return full
}

// join puts a cable between two namespaces, with the same interface name on
// both ends and a fixed link-local address each (fe80::a and fe80::b).
func (l *lab) join(a, b, dev string) {
	l.t.Helper()
	l.must("ip", "-n", a, "link", "add", dev, "type", "veth", "peer", "name", dev, "netns", b)
	for ns, ll := range map[string]string{a: "fe80::a/64", b: "fe80::b/64"} {
		l.must("ip", "-n", ns, "link", "set", dev, "addrgenmode", "none")
		l.must("ip", "-n", ns, "link", "set", dev, "up")
		l.must("ip", "-n", ns, "addr", "add", ll, "dev", dev, "nodad")
	}
}

// addr adds addresses.
func (l *lab) addr(ns, dev string, addrs ...string) {
	l.t.Helper()
	for _, a := range addrs {
		args := []string{"ip", "-n", ns, "addr", "add", a, "dev", dev}
		if strings.Contains(a, ":") {
			args = append(args, "nodad")
		}
		l.must(args...)
	}
}

// pair is the usual lab: a node "n" and a router "r" on one cable.
func (l *lab) pair() (node, router string) {
	l.t.Helper()
	node, router = l.ns("n"), l.ns("r")
	l.join(node, router, "e0")
	l.addr(node, "e0", "10.1.1.11/24", "2001:db8:1::11/64")
	l.addr(router, "e0", "10.1.1.1/24", "2001:db8:1::1/64")
	return node, router
}

// start runs a daemon in a namespace until the test ends or stop is called.
func (l *lab) start(ns, dir string, args ...string) (stop func()) {
	l.t.Helper()
	logFile, err := os.OpenFile(filepath.Join(dir, filepath.Base(args[0])+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		l.t.Fatalf("failed to open log: %v", err)
	}
	defer logFile.Close()
	cmd := exec.Command("ip", append([]string{"netns", "exec", ns}, args...)...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	if err := cmd.Start(); err != nil {
		l.t.Fatalf("failed to start %v: %v", args, err)
	}
	var ended atomic.Bool
	stop = func() {
		if ended.Swap(true) {
			return
		}
		_ = cmd.Process.Kill() // ip has become the daemon
		_ = cmd.Wait()
	}
	l.t.Cleanup(stop)
	return stop
}

// dir makes a directory that daemons of other users can use.
func (l *lab) dir(owner string) string {
	l.t.Helper()
	dir, err := os.MkdirTemp("", "recuse-bgp")
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if owner != "" {
		l.must("chown", owner, dir)
	}
	return dir
}

// routes returns the kernel's routes to a prefix in a namespace.
func (l *lab) routes(ns, prefix string) string {
	l.t.Helper()
	family := "-4"
	if strings.Contains(prefix, ":") {
		family = "-6"
	}
	return l.must("ip", family, "-n", ns, "route", "show", prefix)
}

// helper is a speaker in a namespace.
type helper struct {
	t    testing.TB
	cmd  *exec.Cmd
	in   *json.Encoder
	out  *json.Decoder
	logs *logBook
}

// speaker starts a speaker in a namespace.
func (l *lab) speaker(ns string, c Config) *helper {
	l.t.Helper()
	conf, err := json.Marshal(c)
	if err != nil {
		l.t.Fatal(err)
	}
	h := &helper{t: l.t, logs: &logBook{}}
	h.cmd = exec.Command("ip", "netns", "exec", ns, os.Args[0])
	h.cmd.Env = append(os.Environ(), helperEnv+"="+string(conf))
	h.cmd.Stderr = h.logs
	in, err := h.cmd.StdinPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		l.t.Fatalf("failed to start a speaker: %v", err)
	}
	h.in, h.out = json.NewEncoder(in), json.NewDecoder(out)
	l.t.Cleanup(func() {
		_ = in.Close()
		end := time.AfterFunc(10*time.Second, func() { _ = h.cmd.Process.Kill() })
		defer end.Stop()
		if err := h.cmd.Wait(); err != nil && h.cmd.ProcessState.ExitCode() > 0 {
			l.t.Errorf("the speaker failed: %v", err)
		}
		if l.t.Failed() {
			l.t.Logf("the speaker's log:\n%s", strings.Join(h.logs.lines(""), ""))
		}
	})
	return h
}

// do sends an order and returns the answer.
func (h *helper) do(o order) reply {
	h.t.Helper()
	var r reply
	if err := h.in.Encode(o); err != nil {
		h.t.Fatalf("failed to order %s: %v", o.Do, err)
	}
	if err := h.out.Decode(&r); err != nil {
		h.t.Fatalf("no answer to %s: %v", o.Do, err)
	}
	if r.Err != "" {
		h.t.Fatalf("%s failed: %s", o.Do, r.Err)
	}
	return r
}

// set declares routes, and returns when that was.
func (h *helper) set(r []Route) time.Time { return h.do(order{Do: "set", Routes: r}).At }

// update changes the configuration.
func (h *helper) update(c Config) { h.t.Helper(); h.do(order{Do: "update", Config: &c}) }

// peer returns the state of the peer of that index.
func (h *helper) peer(i int) PeerState { return h.do(order{Do: "peers"}).Peers[i] }

// established waits for a peer.
func (h *helper) established(i int) {
	h.t.Helper()
	until(h.t, "session established", func() bool { return h.peer(i).State == "ESTABLISHED" })
}

// says waits for a LastError that contains text.
func (h *helper) says(i int, text string) PeerState {
	h.t.Helper()
	var st PeerState
	until(h.t, "last error "+text, func() bool {
		st = h.peer(i)
		return strings.Contains(st.LastError, text)
	})
	return st
}

// logsOnce waits for a line that contains text, and fails if there are more.
func (h *helper) logsOnce(text string) {
	h.t.Helper()
	until(h.t, "a log line with "+text, func() bool { return len(h.logs.lines(text)) > 0 })
	if n := len(h.logs.lines(text)); n != 1 {
		h.t.Errorf("%q is in %d lines of the log, not in one", text, n)
	}
}
