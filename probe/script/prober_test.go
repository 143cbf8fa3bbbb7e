package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"recuse/probe"
	"recuse/probe/resulttest"
)

// patience is the deadline of runs that end by themselves; none comes near it.
const patience = 20 * time.Second

// brief is the deadline of runs that are meant to be killed.
const brief = 300 * time.Millisecond

// write writes a shell script and returns its path.
func write(t *testing.T, body string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "check")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// shell returns the prober of a shell script, which gets args. Its service is
// named for the test's directory, so that its processes can be told; none of
// them outlives the test.
func shell(t *testing.T, body string, args ...string) *Prober {
	t.Helper()
	name := write(t, body)
	p, err := New(Config{Command: append([]string{name}, args...), Check: "storage", Service: filepath.Dir(name)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range processes(t, p) {
			_ = unix.Kill(pid, unix.SIGKILL) // It may end by itself just now.
		}
	})
	return p
}

// processes returns the numbers of all processes that the prober's program has
// started, but not of zombies, which have no environment any more.
func processes(t *testing.T, p *Prober) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(b), "RECUSE_SERVICE="+p.config.Service+"\x00") {
			continue // It has ended, or is another's.
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(10 * time.Second); ; {
		if ok() {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

// TestProbeEnds proves what each way to end by oneself means.
func TestProbeEnds(t *testing.T) {
	long := strings.Repeat("x", 300)
	tests := []struct {
		name, body string
		cause      probe.Cause
		outcome    string
	}{
		{"passes", "exit 0", probe.Passed, "exit 0"},
		{"passes and says so", "echo all well", probe.Passed, "exit 0: all well"},
		{"fails", "exit 2", probe.Wrong, "exit 2"},
		{"fails and says why", "echo disk fails; exit 3", probe.Wrong, "exit 3: disk fails"},
		{"error output", "echo disk fails >&2; exit 255", probe.Wrong, "exit 255: disk fails"},
		{"first line that says something", "printf '\\n  \\n  one \\ntwo\\n'; exit 1", probe.Wrong, "exit 1: one"},
		{"no end of line", "printf one; exit 1", probe.Wrong, "exit 1: one"},
		{"control characters", `printf 'a\033[31mb\000c\377\n'; exit 1`, probe.Wrong, `exit 1: a\x1b[31mb\x00c\xff`},
		{"a long line", "echo " + long + "; exit 1", probe.Wrong, "exit 1: " + long[:200] + "..."},
		{"a signal", "kill -SEGV $$", probe.Wrong, "killed by SIGSEGV"},
		{"killed by somebody", "echo hm; kill -KILL $$", probe.Wrong, "killed by SIGKILL: hm"},
		{"input is empty", "read line && exit 1; exit 0", probe.Passed, "exit 0"},
		{"directory", "pwd", probe.Passed, "exit 0: /"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resulttest.Want(t, shell(t, tt.body).Probe(resulttest.Within(t, patience)), tt.cause, tt.outcome, true)
		})
	}
}

// TestProbeArguments proves that the arguments come as they are, through no
// shell.
func TestProbeArguments(t *testing.T) {
	p := shell(t, `printf '%s|' "$#" "$@"`, "a b", "$HOME", "", "*")
	resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "exit 0: 4|a b|$HOME||*|", true)
}

// TestProbeEnvironment proves that the program gets what is documented, and
// nothing of the agent's.
func TestProbeEnvironment(t *testing.T) {
	t.Setenv("RECUSE_SECRET", "x")
	p, err := New(Config{Command: []string{"/usr/bin/env", "-0"}, Check: "storage", Service: "dns"})
	if err != nil {
		t.Fatal(err)
	}
	resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "exit 0: "+
		`PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\x00LANG=C\x00`+
		`RECUSE_CHECK=storage\x00RECUSE_SERVICE=dns\x00`, true)
}

// TestProbeNotStarted proves that a program which cannot be started says
// nothing of the service.
func TestProbeNotStarted(t *testing.T) {
	plain := func(text string, mode fs.FileMode) func(string) error {
		return func(name string) error { return os.WriteFile(name, []byte(text), mode) }
	}
	tests := []struct {
		name string
		make func(name string) error
		want string
	}{
		{"missing", func(string) error { return nil }, "no such file or directory"},
		{"not executable", plain("#!/bin/sh\n", 0o644),
			"permission denied; make it executable for the agent's user (chmod +x)"},
		{"a directory", func(name string) error { return os.Mkdir(name, 0o755) },
			"permission denied; make it executable for the agent's user (chmod +x)"},
		{"no interpreter line", plain("exit 0\n", 0o755),
			"exec format error; a script begins with a line such as #!/bin/sh"},
		{"no such interpreter", plain("#!/nonexistent/sh\n", 0o755),
			"the interpreter that its first line names is not there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "check")
			if err := tt.make(name); err != nil {
				t.Fatal(err)
			}
			p, err := New(Config{Command: []string{name}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // The token is given back.
				resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Unmade, "failed to start "+name+": "+tt.want, false)
			}
		})
	}
}

// TestProbeTimeout proves that the program and all of its group are killed at
// the deadline, whatever they do about it.
func TestProbeTimeout(t *testing.T) {
	tests := []struct{ name, body, output string }{
		{"sleeps", "echo begun; exec sleep 1000", ": begun"},
		{"sleeps in a child", "sleep 1000", ""},
		{"ignores signals", "trap '' TERM INT HUP QUIT; echo begun; while :; do sleep 1000; done", ": begun"},
		{"prints without end", "exec yes", ": y"},
		{"prints without end and no newline", "exec cat /dev/zero", ": " + strings.Repeat(`\x00`, 50) + "..."},
		{"stopped", "kill -STOP $$", ""},
		{"in the background", "sleep 1000 & sleep 1000 & wait", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := shell(t, tt.body)
			ctx := resulttest.Within(t, brief)
			got := p.Probe(ctx)
			deadline, _ := ctx.Deadline()
			text := fmt.Sprintf("timeout after %v, killed%s", deadline.Sub(got.Sent).Round(time.Millisecond), tt.output)
			resulttest.Want(t, got, probe.Silent, text, false)
			noneLeft(t, p, 0)
		})
	}
}

// noneLeft waits until neither a process of the prober's program is left, alive
// or as a zombie of ours, nor a goroutine. Of those that left the group, there
// are so many.
func noneLeft(t *testing.T, p *Prober, daemons int) {
	t.Helper()
	eventually(t, "the processes are gone", func() bool { return len(processes(t, p)) == daemons })
	eventually(t, "the token is back", func() bool { return len(p.free) == 1 })
	eventually(t, "no goroutine is left", func() bool {
		buf := make([]byte, 1<<20)
		return !strings.Contains(string(buf[:runtime.Stack(buf, true)]), "script.(*output)") &&
			!strings.Contains(string(buf[:runtime.Stack(buf, true)]), "script.Config")
	})
	eventually(t, "no child is left", func() bool {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		return errors.Is(err, unix.ECHILD)
	})
}

// descriptors returns how many file descriptors this process has.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// gone tells whether there is no process of that number, or only a zombie,
// which is another's to reap.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// number reads a process number that a script has written to a file.
func number(t *testing.T, file string) int {
	t.Helper()
	var pid int
	eventually(t, "the process number is written", func() bool {
		b, err := os.ReadFile(file)
		if err != nil || !strings.HasSuffix(string(b), "\n") {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil
	})
	return pid
}

// TestProbeGrandchildren proves that grandchildren which stay in the group are
// killed, at the deadline and when the program ends by itself.
func TestProbeGrandchildren(t *testing.T) {
	tests := []struct {
		name, end string
		allowed   time.Duration
		cause     probe.Cause
	}{
		{"at the deadline", "wait", brief, probe.Silent},
		{"at the end", "exit 0", patience, probe.Passed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			p := shell(t, `(sh -c 'trap "" TERM HUP; echo $$ >"$0"; while :; do sleep 1000; done' "$1") &
while [ ! -s "$1" ]; do sleep 0.01; done
`+tt.end, file)
			if got := p.Probe(resulttest.Within(t, tt.allowed)); got.Cause != tt.cause {
				t.Errorf("unexpected result %+v", got)
			}
			pid := number(t, file)
			eventually(t, "the grandchild is gone", func() bool { return gone(pid) })
			noneLeft(t, p, 0)
		})
	}
}

// TestProbeDaemon proves that a grandchild which has left the group and keeps
// the pipe open holds up neither the probe nor a descriptor.
func TestProbeDaemon(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := shell(t, `setsid sh -c 'echo $$ >"$0"; exec sleep 1000' "$1" &
while [ ! -s "$1" ]; do sleep 0.01; done
echo started; exit 0`, file)
	before := descriptors(t)
	got := p.Probe(resulttest.Within(t, patience))
	pid := number(t, file)
	resulttest.Want(t, got, probe.Passed, "exit 0: started", true)
	if got.RTT() > patience/2 {
		t.Errorf("the probe took %v", got.RTT())
	}
	if gone(pid) {
		t.Error("the daemon did not leave the group, so the test shows nothing")
	}
	noneLeft(t, p, 1)
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestProbeManyWords proves that the program never waits for a reader, and
// that what it wrote first is kept.
func TestProbeManyWords(t *testing.T) {
	p := shell(t, "echo first; head -c 3000000 /dev/zero; echo last; exit 7")
	resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Wrong, "exit 7: first", true)
}

// TestProbeRepeats proves that nothing piles up over many runs.
func TestProbeRepeats(t *testing.T) {
	p := shell(t, "echo well")
	before := descriptors(t)
	for range 50 {
		resulttest.Want(t, p.Probe(resulttest.Within(t, patience)), probe.Passed, "exit 0: well", true)
	}
	noneLeft(t, p, 0)
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestProbeBusy proves that there is never more than one process out.
func TestProbeBusy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	p := shell(t, `read line <"$1"; echo "$line"`, file)
	first := make(chan probe.Result, 1)
	ctx := resulttest.Within(t, patience)
	go func() { first <- p.Probe(ctx) }()
	eventually(t, "the first run is out", func() bool { return len(p.free) == 0 })
	resulttest.Want(t, p.Probe(ctx), probe.Silent, "the run before has not ended", false)
	if err := os.WriteFile(file, []byte("go on\n"), 0); err != nil {
		t.Fatal(err)
	}
	resulttest.Want(t, <-first, probe.Passed, "exit 0: go on", true)
}

// TestProbeEnded proves that a run ends with its context, and shows nothing.
func TestProbeEnded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := shell(t, `echo $$ >"$1"; exec sleep 1000`, file)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := make(chan probe.Result, 1)
	go func() { results <- p.Probe(ctx) }()
	pid := number(t, file)
	cancel()
	resulttest.Want(t, <-results, probe.Unmade, "the probe was ended", false)
	if !gone(pid) {
		t.Error("the program lives on")
	}
}

// TestCut proves what is said of a process that does not die, and of one that
// ended by itself at the deadline.
func TestCut(t *testing.T) {
	sent := time.Now()
	expired, cancel := context.WithDeadline(t.Context(), sent.Add(-time.Second))
	defer cancel()
	sent = sent.Add(-1500 * time.Millisecond)
	tests := []struct {
		name  string
		ended []ending
		want  probe.Result
	}{
		{"stuck", nil, probe.Result{Cause: probe.Silent, Outcome: "timeout after 500ms, " +
			"killed, and has not ended: stuck in the kernel, or this box is very busy"}},
		{"killed", []ending{{status: unix.WaitStatus(unix.SIGKILL)}},
			probe.Result{Cause: probe.Silent, Outcome: "timeout after 500ms, killed"}},
		{"ended by itself", []ending{{}}, probe.Result{Cause: probe.Passed, Outcome: "exit 0", Alive: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ended := make(chan ending, 1)
			for _, e := range tt.ended {
				ended <- e
			}
			if diff := cmp.Diff(tt.want, cut(expired, sent, ended)); diff != "" {
				t.Errorf("unexpected result (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNewErrors proves that a program that can never be run is refused.
func TestNewErrors(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		want   string
	}{
		{"none", Config{}, "command: no program to run"},
		{"relative", Config{Command: []string{"check"}}, `command: "check" is not an absolute path`},
		{"zero byte", Config{Command: []string{"/a", "b\x00"}}, `command: "b\x00" holds a zero byte`},
		{"zero byte in a name", Config{Command: []string{"/a"}, Check: "\x00"}, `command: "\x00" holds a zero byte`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.config); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// BenchmarkProbe measures one run of a program that does nothing.
func BenchmarkProbe(b *testing.B) {
	p, err := New(Config{Command: []string{"/bin/true"}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if res := p.Probe(b.Context()); res.Cause != probe.Passed {
			b.Fatalf("got %+v", res)
		}
	}
}
