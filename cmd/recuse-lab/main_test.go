package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/lab/load"
	"recuse/lab/result"
	"recuse/lab/scenario"
	"recuse/netlinkx/netnstest"
)

// execute runs a command line and returns what it printed and its exit code.
func execute(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	root := newRoot()
	var out, errs bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return out.String(), errs.String(), err
}

// TestUsage shows that each wrong command line is told from what the box is to
// blame for, and says what would be right.
func TestUsage(t *testing.T) {
	taken := t.TempDir()
	if err := os.Mkdir(filepath.Join(taken, "steady_anycast_recuse_frr"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args string
		want string
	}{
		{"raise", `unknown command "raise"`},
		{"runn", "did you mean run?"},
		{"run steadily", "must be one of steady, "},
		{"run --design star", "must be one of baseline, relay, anycast"},
		{"run --router cisco", "must be one of frr, bird"},
		{"run --agent gocast", "must be one of recuse, bird-script, exabgp, "},
		{"run --last-resort prayer", "must be one of none, floating, policy, redirect"},
		{"run --layout ring", "must be one of routed, flat"},
		{"run --stub windows", "must be one of none, two, glibc"},
		{"run --transport quic", "must be one of udp, "},
		{"run --backend cloud", "must be one of "},
		{"run --scale -1", "--scale: -1: must be from 0"},
		{"run --rate 0", "--rate: 0: must be from 1"},
		{"run --jobs many", "invalid argument"},
		{"run --nodes 1", "--nodes: 1: must be from 2"},
		{"run --speed 3", "unknown flag: --speed"},
		{"list all", "unknown command"},
		{"report", "accepts 1 arg"},
		{"shell", "requires at least 1 arg"},
		{"load", "requires at least 1 arg"},
		{"load example.org", "must be an address"},
		{"load 127.0.0.1 --rate 0", "--rate: 0: must be above 0"},
		{"load 127.0.0.1 --source here", "must be an address of this box"},
		{"load 1.1.1.1 1.1.1.2 1.1.1.3 1.1.1.4 1.1.1.5", "at most 4"},
		{"up --design baseline,relay", "up raises one network, not 2"},
		{"run --adguard-home /bin/true", "--adguard-home: is for --backend incus"},
		{"up --emulate", "--emulate: is for --backend incus"},
		{"run --backend incus --real-router routeros", "--real-router and --uplink: one needs the other"},
		{"up --backend incus --uplink lan=eth1", "--real-router and --uplink: one needs the other"},
		{"run --backend incus --real-router cisco --uplink lan=eth1", `--real-router: "cisco": must be one of `},
		{"run --backend incus --uplink lan", "lan must be formatted as key=value"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			_, _, err := execute(t, strings.Fields(tt.args)...)
			if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q of a wrong command line", err, tt.want)
			}
			if code := run(strings.Fields(tt.args)); code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
		})
	}
	tasks := []scenario.Task{{Options: scenario.Options{ID: "steady_anycast_recuse_frr"}}}
	if err := free(taken, tasks); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), "choose another directory") {
		t.Errorf("a directory with the run in it: %v", err)
	}
}

// TestMissing shows that what is not on the box is named, with the way out,
// before anything is raised.
func TestMissing(t *testing.T) {
	_, _, err := execute(t, "run", "steady", "--recuse", filepath.Join(t.TempDir(), "recuse"), "--out", t.TempDir())
	if err == nil || errors.Is(err, errUsage) || !strings.Contains(err.Error(), "make bin/recuse") {
		t.Errorf("unexpected error %v", err)
	}
}

// TestList shows that every scenario is in the list, under the names that the
// lab's users know.
func TestList(t *testing.T) {
	out, _, err := execute(t, "list")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(out) {
		name, title, _ := strings.Cut(line, " ")
		names = append(names, name)
		if strings.TrimSpace(title) == "" {
			t.Errorf("%s has no title", name)
		}
	}
	want := strings.Fields(`steady resolver-restart resolver-stopped flapping node-killed node-frozen all-dead
		wan-down wan-down-stale no-lan no-lan-cached all-no-lan slow-30 slow-200ms slow-1800ms all-slow
		router-reboot agent-killed agent-upgraded drain tcp-flows node-added node-added-resilient drops-clients`)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("unexpected scenarios (-want +got):\n%s", diff)
	}
}

// TestSetups shows which combinations are different, and that their directories
// have names of their own.
func TestSetups(t *testing.T) {
	c := choices{designs: designs, routers: routers, agents: agents(), layouts: layouts, resorts: resorts,
		stubs: []string{usualStub, "glibc"}, tuned: true, backend: namespaces}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	setups := c.setups()
	// Anycast with everything; the others without agents and last resorts.
	if want := 2*5*2*4*2 + 2*(2*2*2); len(setups) != want {
		t.Errorf("%d setups, want %d", len(setups), want)
	}
	names := map[string]bool{}
	for _, s := range setups {
		name := id(scenario.All()[0], s, 1)
		if names[name] {
			t.Errorf("%s is there twice", name)
		}
		names[name] = true
	}
	usual := choices{designs: []string{"anycast"}, routers: []string{"frr"}, agents: []string{"recuse"},
		layouts: []string{"routed"}, resorts: []string{"none"}, stubs: []string{usualStub}, backend: namespaces}
	if got := id(scenario.All()[0], usual.setups()[0], 2); got != "steady_anycast_recuse_frr_2" {
		t.Errorf("unexpected name %q", got)
	}
}

// TestRealRouter shows that a real router stands for each that was chosen.
func TestRealRouter(t *testing.T) {
	i := incusFlags{router: "routeros"}
	chosen := choices{designs: []string{"anycast"}, routers: []string{"frr", "bird"}, agents: []string{"recuse"},
		layouts: []string{"routed"}, resorts: []string{"none"}, stubs: []string{usualStub}, backend: containers}
	got := i.on(chosen)
	chosen.routers = []string{"routeros"}
	if diff := cmp.Diff(chosen.setups(), got); diff != "" || len(got) != 1 {
		t.Errorf("unexpected setups (-want +got):\n%s", diff)
	}
}

// serve answers all that is asked on loopback.
func serve(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg)
		_ = w.WriteMsg(m.SetReply(q))
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.ActivateAndServe() }()
	t.Cleanup(func() { _ = s.Shutdown(); <-done })
	return conn.LocalAddr().String()
}

// TestLoad asks a server and reads the figures and the lines back.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	names := filepath.Join(dir, "names")
	if err := os.WriteFile(names, []byte("a.test\n{random}.test TXT # new\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "load.csv")
	out, _, err := execute(t, "load", serve(t), "--rate", "50", "--duration", "500ms", "--clients", "2",
		"--names", names, "--csv", file, "--json")
	var code exitCode
	if err != nil && !(errors.As(err, &code) && int(code) == exitVoid) { // a busy box
		t.Fatal(err)
	}
	var f load.Figures
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	lines, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	records, err := load.ReadCSV(lines)
	if err != nil {
		t.Fatal(err)
	}
	if f.Asked != 25 || f.Lost != 0 || len(records) != 25 || f.Clients.Count != 2 {
		t.Errorf("%d records, figures %+v", len(records), f)
	}
	out, _, _ = execute(t, "load", serve(t), "--rate", "50", "--duration", "100ms")
	for _, want := range []string{"asked      5 by 1 clients", "lost       0 (0 of them not sent)", "lateness"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// TestReport makes the report of a directory, and says what to do about one
// that holds nothing.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	_, _, err := execute(t, "report", dir)
	if err == nil || !strings.Contains(err.Error(), "recuse-lab run --out "+dir) {
		t.Errorf("unexpected error %v", err)
	}
	if err := result.Write(dir, result.Run{ID: "a", Scenario: "drain", LeftOut: "no router"}, nil); err != nil {
		t.Fatal(err)
	}
	out, _, err := execute(t, "report", dir)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, pageName))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "no router") || !bytes.Contains(page, []byte("no router")) {
		t.Errorf("the run is not in the report:\n%s", out)
	}
}

// TestProgress shows a line a step, and on a terminal one line that is written
// over.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	task := scenario.Task{Options: scenario.Options{ID: "a"}}
	p := newProgress(&out, 2)
	p.step(task, "raising")
	p.finished(result.Run{ID: "a", LeftOut: "no router"})
	p.end()
	if got := out.String(); !strings.HasSuffix(got, "s  a: raising\n[1/2] a: left out: no router\n") {
		t.Errorf("unexpected lines %q", got)
	}
	out.Reset()
	p = newProgress(&out, 2)
	p.width = 20
	p.step(task, "raising")
	p.step(scenario.Task{Options: scenario.Options{ID: "b"}}, "raising too")
	p.finished(result.Run{ID: "a", Void: "no proof"})
	p.end()
	const wipe = "\r\x1b[K"
	want := wipe + "0/2  a: raising" + wipe + "0/2  a: raising | …" + wipe + "[1/2] a: VOID: no proof\n" +
		wipe + "1/2  b: raising too" + wipe
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("unexpected lines (-want +got):\n%s", diff)
	}
}

// TestStanding shows that a lab is found as long as it is held, and not after.
func TestStanding(t *testing.T) {
	netnstest.Need(t) // labs are listed where root writes
	fall, err := stand(standing{PID: os.Getpid(), Hosts: map[string][]string{"n2": {"b"}, "n1": {"a"}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := oneStanding(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"n1", "n2"}, s.names()); diff != "" {
		t.Errorf("unexpected hosts (-want +got):\n%s", diff)
	}
	if err := fall(); err != nil {
		t.Fatal(err)
	}
	if _, err := oneStanding(os.Getpid()); err == nil || !strings.Contains(err.Error(), "no lab of process") {
		t.Errorf("unexpected error %v", err)
	}
	stale := filepath.Join(standingDir, "999999999.json")
	if err := os.WriteFile(stale, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := allStanding(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("what a dead process left is still there")
	}
}
