package bfd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A router is a BFD implementation that is not ours, in the peer's namespace
// of a lab, with a session on each of the given ways.
type router interface {
	// start begins anew with settings; the processes of before must be dead.
	start(s settings)
	// apply changes the settings of what runs.
	apply(s settings)
	// pid is that of the process that speaks BFD.
	pid() int
	// show prints what the router thinks, for failure messages.
	show() string
}

// settings are what the tests set on a router, for all its sessions alike.
type settings struct {
	tx, rx    time.Duration
	mult      int
	adminDown bool
	auth      *Auth
}

// daemon is a process in a lab that is killed when the test ends.
type daemon struct{ cmd *exec.Cmd }

// startDaemon starts a program in a namespace.
func (l *lab) startDaemon(ns, logFile string, argv ...string) *daemon {
	l.t.Helper()
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		l.t.Fatal(err)
	}
	defer log.Close()
	// ip execs the program, so the number of the process stays.
	d := &daemon{exec.Command("ip", append([]string{"netns", "exec", ns}, argv...)...)}
	d.cmd.Stdout, d.cmd.Stderr = log, log
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(d.kill)
	return d
}

// kill ends the process without a word and waits until it is gone.
func (d *daemon) kill() {
	if d.cmd.ProcessState == nil {
		d.cmd.Process.Kill()
		d.cmd.Wait()
	}
}

// frr is bfdd of FRR, with the zebra that it needs.
type frr struct {
	*lab
	ns          string
	ways        []way
	dir         string
	zebra, bfdd *daemon
}

// newFRR prepares FRR in the peer's namespace.
func newFRR(l *lab, ways []way) router { return newFRRIn(l, l.peer, ways) }

// newFRRIn prepares FRR in a namespace.
func newFRRIn(l *lab, ns string, ways []way) *frr {
	l.t.Helper()
	needRoot(l.t, "/usr/lib/frr/bfdd", "/usr/lib/frr/zebra", "vtysh")
	// Not below the directory of the test, which the user frr may not enter.
	dir, err := os.MkdirTemp("", "frr")
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { os.RemoveAll(dir) })
	u, err := user.Lookup("frr")
	if err != nil {
		l.t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		l.t.Fatal(err)
	}
	return &frr{lab: l, ns: ns, ways: ways, dir: dir}
}

func (f *frr) start(s settings) {
	f.t.Helper()
	d := f.dir
	if f.zebra == nil {
		f.zebra = f.startDaemon(f.ns, d+"/zebra.out", "/usr/lib/frr/zebra", "-i", d+"/zebra.pid", "-z", d+"/zserv.api", "--vty_socket", d, "-f", "/dev/null")
		f.eventually("zebra's socket", 10*time.Second, exists(d+"/zserv.api"), f.show)
	}
	os.Remove(d + "/bfdd.vty")
	f.bfdd = f.startDaemon(f.ns, d+"/bfdd.out", "/usr/lib/frr/bfdd", "-i", d+"/bfdd.pid", "-z", d+"/zserv.api", "--vty_socket", d, "--bfdctl", d+"/bfdd.sock", "-f", "/dev/null")
	f.eventually("bfdd's socket", 10*time.Second, exists(d+"/bfdd.vty"), f.show)
	f.apply(s)
}

// exists returns a function that reports whether a file is there.
func exists(path string) func() bool {
	return func() bool { _, err := os.Stat(path); return err == nil }
}

func (f *frr) apply(s settings) {
	f.t.Helper()
	commands := []string{"configure terminal", "bfd"}
	for _, w := range f.ways {
		peer := fmt.Sprintf("peer %v local-address %v interface %s", w.our, w.his, w.his0)
		if w.multihop {
			peer = fmt.Sprintf("peer %v multihop local-address %v", w.our, w.his)
		}
		shutdown := "no shutdown"
		if s.adminDown {
			shutdown = "shutdown"
		}
		commands = append(commands, peer,
			fmt.Sprintf("transmit-interval %d", s.tx.Milliseconds()),
			fmt.Sprintf("receive-interval %d", s.rx.Milliseconds()),
			fmt.Sprintf("detect-multiplier %d", s.mult), shutdown, "exit")
	}
	if out, err := f.vtysh(commands...); err != nil || strings.Contains(out, "%") {
		f.t.Fatalf("vtysh: %v\n%s", err, out)
	}
}

// vtysh gives commands to bfdd.
func (f *frr) vtysh(commands ...string) (string, error) {
	argv := []string{"--vty_socket", f.dir, "-d", "bfdd"}
	for _, c := range commands {
		argv = append(argv, "-c", c)
	}
	out, err := exec.Command("vtysh", argv...).CombinedOutput()
	return string(out), err
}

func (f *frr) pid() int { return f.bfdd.cmd.Process.Pid }

func (f *frr) show() string {
	out, _ := f.vtysh("show bfd peers", "show bfd peers counters")
	log, _ := os.ReadFile(f.dir + "/bfdd.out")
	return out + "\n" + string(log)
}

// bird is BIRD, version 2.
type bird struct {
	*lab
	ways   []way
	dir    string
	daemon *daemon
}

// newBIRD prepares BIRD.
func newBIRD(l *lab, ways []way) router {
	l.t.Helper()
	needRoot(l.t, "bird", "birdc")
	// Short, since the path of a socket must not be long.
	dir, err := os.MkdirTemp("", "bird")
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { os.RemoveAll(dir) })
	return &bird{lab: l, ways: ways, dir: dir}
}

func (b *bird) start(s settings) {
	b.t.Helper()
	os.Remove(b.dir + "/ctl")
	b.write(s)
	b.daemon = b.startDaemon(b.peer, b.dir+"/out", "bird", "-f", "-c", b.dir+"/bird.conf", "-s", b.dir+"/ctl")
	b.eventually("BIRD's socket", 10*time.Second, func() bool { _, err := b.birdc("show", "status"); return err == nil }, b.show)
}

func (b *bird) apply(s settings) {
	b.t.Helper()
	b.write(s)
	if out, err := b.birdc("configure"); err != nil || !strings.Contains(out, "Reconfigur") {
		b.t.Fatalf("birdc configure: %v\n%s", err, out)
	}
}

// write writes the configuration.
func (b *bird) write(s settings) {
	b.t.Helper()
	var c bytes.Buffer
	fmt.Fprintf(&c, "log %q all;\nrouter id 192.0.2.2;\nprotocol device {}\nprotocol bfd b {\n", b.dir+"/log")
	if s.adminDown {
		fmt.Fprintln(&c, "disabled;")
	}
	for _, block := range []string{`interface "peer0"`, "multihop"} {
		fmt.Fprintf(&c, "%s { min tx interval %d ms; min rx interval %d ms; multiplier %d; %s};\n",
			block, s.tx.Milliseconds(), s.rx.Milliseconds(), s.mult, birdAuth(s.auth))
	}
	for _, w := range b.ways {
		if w.multihop {
			fmt.Fprintf(&c, "neighbor %v local %v multihop on;\n", w.our, w.his)
		} else {
			fmt.Fprintf(&c, "neighbor %v dev %q local %v;\n", w.our, w.his0, w.his)
		}
	}
	fmt.Fprintln(&c, "}")
	if err := os.WriteFile(filepath.Join(b.dir, "bird.conf"), c.Bytes(), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// birdAuth returns BIRD's words for authentication.
func birdAuth(a *Auth) string {
	if a == nil {
		return ""
	}
	words := strings.NewReplacer("-", " ").Replace(a.Type.String())
	s := "authentication " + words + "; "
	for _, k := range a.Keys {
		s += fmt.Sprintf("password %q { id %d; }; ", k.Secret, k.ID)
	}
	return s
}

// birdc gives a command to BIRD.
func (b *bird) birdc(words ...string) (string, error) {
	out, err := exec.Command("birdc", append([]string{"-s", b.dir + "/ctl"}, words...)...).CombinedOutput()
	return string(out), err
}

func (b *bird) pid() int { return b.daemon.cmd.Process.Pid }

func (b *bird) show() string {
	out, _ := b.birdc("show", "bfd", "sessions")
	log, _ := os.ReadFile(b.dir + "/log")
	stdout, _ := os.ReadFile(b.dir + "/out")
	return out + "\n" + string(log) + string(stdout)
}

// routers are the implementations that the tests run against.
var routers = []struct {
	name string
	make func(*lab, []way) router
}{
	{"FRR", newFRR},
	{"BIRD", newBIRD},
}

// eachRouter runs a test against every router in a lab of its own.
func eachRouter(t *testing.T, f func(t *testing.T, l *lab, make func(*lab, []way) router)) {
	needRoot(t, "ip", "nft")
	for _, r := range routers {
		t.Run(r.name, func(t *testing.T) { f(t, newLab(t), r.make) })
	}
}
