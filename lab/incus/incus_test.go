//go:build incus

package incus_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recuse/lab/bench"
	"recuse/lab/incus"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// soon bounds what a test waits for on a busy box.
const soon = 60 * time.Second

// These tests are behind a tag since they make an image of some hundred
// megabytes, once; where Incus is missing they fail (make lab-incus-quick).

// raise raises a bench that ends with the test.
func raise(t *testing.T, o incus.Options) bench.Bench {
	t.Helper()
	if err := incus.Missing(); err != nil {
		t.Fatal(err)
	}
	o.Recuse = filepath.Join(labtest.Build(t), "recuse")
	o.Cache, o.Unit = "../../out/incus", "../../deploy/systemd/recuse.service"
	b, err := incus.New(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			printLogs(t, b)
		}
		if err := b.Close(); err != nil {
			t.Errorf("failed to close the bench: %v", err)
		}
	})
	must(t, b.Ready(t.Context()))
	return b
}

// printLogs prints what the hosts logged.
func printLogs(t *testing.T, b bench.Bench) {
	dir := t.TempDir()
	if err := b.Logs(dir); err != nil {
		t.Log(err)
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "*", "log", "*.log"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		t.Logf("--- %s\n%s", strings.TrimPrefix(path, dir), text)
	}
}

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hops waits until these nodes alone are the router's next hops.
func hops(t *testing.T, b bench.Bench, want ...string) {
	t.Helper()
	start := time.Now()
	var got []string
	if err := topology.Within(t.Context(), soon, "next hops", func() (bool, string) {
		var err error
		got, err = b.Router().NextHops(t.Context())
		return err == nil && slices.Equal(got, want), strings.Join(got, " ")
	}); err != nil {
		t.Fatalf("the router's next hops are %v, want %v: %v", got, want, err)
	}
	t.Logf("next hops %v after %v", want, time.Since(start).Round(time.Millisecond))
}

// TestNodes takes a node through what scenarios do to it.
func TestNodes(t *testing.T) {
	b := raise(t, incus.Options{})
	ctx := t.Context()
	hops(t, b, "n1", "n2", "n3")
	n1, n2 := b.Nodes()[0], b.Nodes()[1]
	must(t, n1.Resolver().Stop(ctx))
	hops(t, b, "n2", "n3")
	must(t, n1.Resolver().Start(ctx))
	hops(t, b, "n1", "n2", "n3")
	must(t, b.Ready(ctx))
	must(t, n2.Freeze(ctx))
	hops(t, b, "n1", "n3")
	if _, err := n2.Seen(ctx); err != nil {
		t.Errorf("Seen of a frozen node: %v", err)
	}
	must(t, n2.Thaw(ctx))
	hops(t, b, "n1", "n2", "n3")
	must(t, n1.Drain(ctx))
	hops(t, b, "n2", "n3")
	must(t, n1.Undrain(ctx))
	hops(t, b, "n1", "n2", "n3")
	must(t, b.Ready(ctx))
	must(t, n1.Kill(ctx))
	hops(t, b, "n2", "n3")
	must(t, n1.Start(ctx))
	must(t, b.Ready(ctx))
	added, err := b.AddNode(ctx)
	must(t, err)
	hops(t, b, "n1", "n2", "n3", added.Name())
	v := b.Versions(ctx)
	for _, name := range []string{"recuse", "unbound", "frr", "incus"} {
		if v[name] == "" {
			t.Errorf("no version of %s in %v", name, v)
		}
	}
	t.Log(v, b.Settings())
}
