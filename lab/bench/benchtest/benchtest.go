// Package benchtest raises benches in namespaces for tests.
package benchtest

import (
	"context"
	"path/filepath"
	"testing"

	"recuse/lab/bench"
	"recuse/lab/bench/netns"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// Raise raises a bench that is ready and ends with the test. The router is FRR
// if none is named, and the binary is filled in.
func Raise(t *testing.T, o netns.Options) bench.Bench {
	t.Helper()
	if o.Router == "" {
		o.Router = topology.FRR
	}
	labtest.Require(t, o.Router)
	o.Recuse = filepath.Join(labtest.Build(t), "recuse")
	b, err := netns.New(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("failed to close the bench: %v", err)
		}
	})
	if err := b.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}
