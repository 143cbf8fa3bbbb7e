package control

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveAt puts an agent on a socket until the test ends.
func serveAt(t *testing.T, path string) *Listener {
	t.Helper()
	l, _, err := Listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, &fake{status: Status{Node: "n1"}}, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return l
}

// answers polls until the agent on a socket answers.
func answers(t *testing.T, path string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := NewClient(path).Status(context.Background())
		if err == nil && st.Node == "n1" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no answer: %v", err)
		}
		<-tick.C
	}
}

// TestRemake removes the socket's name, and then its directory: it is made
// anew, and goes when the server ends.
func TestRemake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	path := filepath.Join(dir, "sock")
	t.Cleanup(func() { // runs after that of serveAt
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
	})
	serveAt(t, path)
	for _, what := range []string{path, dir} {
		if err := os.RemoveAll(what); err != nil {
			t.Fatal(err)
		}
		answers(t, path)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("unexpected mode: %v, %v", info, err)
		}
	}
}

// TestRemakeNotOver proves that what another agent put in place of the socket
// is neither taken from it nor removed.
func TestRemakeNotOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	first, _, err := Listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second := serveAt(t, path)
	if first.stands() || !second.stands() {
		t.Errorf("stands: the first %t, the second %t", first.stands(), second.stands())
	}
	if _, err := remakeOnce(first); err == nil || !strings.Contains(err.Error(), "another agent answers") {
		t.Errorf("unexpected error: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	answers(t, path)
}

// remakeOnce is what remake does when the name is gone.
func remakeOnce(l *Listener) (*Listener, error) {
	next, _, err := Listen(l.path, l.group)
	return next, err
}
