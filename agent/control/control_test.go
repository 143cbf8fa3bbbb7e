package control

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fake is an agent that answers from its fields and notes what it was asked.
type fake struct {
	status  Status
	past    []Event
	coming  chan Event
	refuse  error
	drained Drain
	named   []string
	reload  Reload
}

func (f *fake) Status(context.Context) (Status, error) { return f.status, f.refuse }

func (f *fake) Events(_ context.Context, follow bool) ([]Event, <-chan Event, error) {
	if !follow {
		return f.past, nil, f.refuse
	}
	return f.past, f.coming, f.refuse
}

func (f *fake) Drain(_ context.Context, d Drain) error {
	f.drained = d
	return f.refuse
}

func (f *fake) Undrain(_ context.Context, name string) error {
	f.named = append(f.named, "undrain "+name)
	return f.refuse
}

func (f *fake) Resume(_ context.Context, name string) error {
	f.named = append(f.named, "resume "+name)
	return f.refuse
}

func (f *fake) Reload(_ context.Context, r Reload) (Reloaded, error) {
	f.reload = r
	return Reloaded{Changes: []string{"a"}, Harms: []string{}, Later: []string{}}, f.refuse
}

// serve puts an agent on a socket of its own.
func serve(t *testing.T, a Agent) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run", "sock")
	l, _, err := Listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, a, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
	})
	return NewClient(path)
}

func TestCommands(t *testing.T) {
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := &fake{status: Status{Node: "n1", Services: []Service{{Name: "dns",
		HoldUntil: &until, Others: []string{"192.0.2.12"}}}}}
	c, ctx := serve(t, f), context.Background()
	st, err := c.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f.status, st); diff != "" {
		t.Errorf("unexpected status (-want +got):\n%s", diff)
	}
	want := Drain{Service: "dns", For: Duration(90 * time.Second), Reason: "disk",
		Force: true}
	if err := errors.Join(c.Drain(ctx, want), c.Undrain(ctx, "dns"),
		c.Resume(ctx, "web")); err != nil {
		t.Fatal(err)
	}
	if f.drained != want {
		t.Errorf("unexpected drain: %+v", f.drained)
	}
	if diff := cmp.Diff([]string{"undrain dns", "resume web"}, f.named); diff != "" {
		t.Errorf("unexpected commands (-want +got):\n%s", diff)
	}
	done, err := c.Reload(ctx, Reload{DryRun: true, AllowWithdraw: true})
	if err != nil || len(done.Changes) != 1 || !f.reload.DryRun || !f.reload.AllowWithdraw {
		t.Errorf("unexpected reload: %+v, %v", done, err)
	}
}

func TestRefusals(t *testing.T) {
	f := &fake{refuse: errors.New("nobody else serves")}
	c, ctx := serve(t, f), context.Background()
	_, statusErr := c.Status(ctx)
	_, reloadErr := c.Reload(ctx, Reload{})
	for name, err := range map[string]error{"status": statusErr,
		"reload": reloadErr, "drain": c.Drain(ctx, Drain{}),
		"events": c.Events(ctx, false, func(Event) error { return nil })} {
		if err == nil || err.Error() != "nobody else serves" {
			t.Errorf("%s: unexpected answer: %v", name, err)
		}
	}
}

func TestEvents(t *testing.T) {
	f := &fake{past: []Event{{Seq: 1}, {Seq: 2}}, coming: make(chan Event)}
	c := serve(t, f)
	var got []uint64
	note := func(e Event) error {
		got = append(got, e.Seq)
		return nil
	}
	if err := c.Events(context.Background(), false, note); err != nil {
		t.Fatal(err)
	}
	go func() {
		f.coming <- Event{Seq: 3}
		close(f.coming) // as for a reader that is too slow
	}()
	if err := c.Events(context.Background(), true, note); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint64{1, 2, 1, 2, 3}, got); diff != "" {
		t.Errorf("unexpected events (-want +got):\n%s", diff)
	}
}

// TestBadRequests proves that nonsense is refused, and harms nobody.
func TestBadRequests(t *testing.T) {
	f := &fake{}
	c := serve(t, f)
	for _, body := range []string{"", "{", `{"servce": "dns"}`,
		`{"service": "dns", "for": 30}`, `{"service": "dns"} {}`, `{"service": "dns"}x`, strings.Repeat("x", maxBody+1)} {
		resp, err := c.http.Post("http://recuse/v1/drain", "application/json",
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("body %.20q: unexpected answer %s", body, resp.Status)
		}
	}
	if f.drained != (Drain{}) {
		t.Errorf("nonsense was carried out: %+v", f.drained)
	}
}

func TestNoDaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	if _, err := NewClient(path).Status(context.Background()); !errors.Is(err,
		ErrNoDaemon) || !strings.Contains(err.Error(), path) {
		t.Errorf("no socket: unexpected error: %v", err)
	}
	abandon(t, path)
	if _, err := NewClient(path).Status(context.Background()); !errors.Is(err,
		ErrNoDaemon) {
		t.Errorf("a dead agent's socket: unexpected error: %v", err)
	}
}

// abandon leaves a socket as an agent does that was killed.
func abandon(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestListen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sock")
	abandon(t, path)
	l, warning, err := Listen(path, "no-such-group-here")
	if err != nil {
		t.Fatalf("a dead agent's socket is in the way: %v", err)
	}
	defer l.Close()
	if !strings.Contains(warning, "only root") {
		t.Errorf("unexpected warning: %q", warning)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("unexpected mode: %v, %v", info.Mode(), err)
	}
	if _, _, err := Listen(path, ""); err == nil ||
		!strings.Contains(err.Error(), "another agent answers") {
		t.Errorf("a living agent's socket was taken: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Listen(file, ""); err == nil ||
		!strings.Contains(err.Error(), "is no socket") {
		t.Errorf("a file was taken for a socket: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("the file was touched: %q, %v", text, err)
	}
	rest, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(rest) != 0 {
		t.Errorf("left behind: %v, %v", rest, err)
	}
}

// last is an agent that its own reload ends.
type last struct {
	fake
	end  context.CancelFunc
	path string // of the socket
}

func (l *last) Reload(ctx context.Context, r Reload) (Reloaded, error) {
	l.end()
	for { // until the end has begun
		c, err := net.Dial("unix", l.path)
		if err != nil {
			return l.fake.Reload(ctx, r)
		}
		_ = c.Close()
	}
}

// TestLastAnswer shows that the command which ends the agent is answered, and
// that who follows the events does not hold up the end.
func TestLastAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	l, _, err := Listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	agent := &last{fake{coming: make(chan Event)}, end, path}
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, agent, slog.New(slog.DiscardHandler)) }()
	c := NewClient(path)
	followed := make(chan error, 1)
	go func() { followed <- c.Events(t.Context(), true, func(Event) error { return nil }) }()
	agent.coming <- Event{} // it is being followed
	got, err := c.Reload(t.Context(), Reload{})
	if err != nil || len(got.Changes) != 1 {
		t.Errorf("answered %+v, %v", got, err)
	}
	if err := <-done; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	<-followed
}

// TestPID asks the kernel who listens: this process, and then nobody.
func TestPID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(path)
	if pid, err := c.PID(t.Context()); pid != os.Getpid() || err != nil {
		t.Errorf("got %d, %v, want %d", pid, err, os.Getpid())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PID(t.Context()); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("unexpected error: %v", err)
	}
}
