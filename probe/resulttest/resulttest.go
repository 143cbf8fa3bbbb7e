// Package resulttest is what the tests of all probers share: results compared
// with what is expected, and deadlines.
package resulttest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recuse/probe"
)

// Want compares a result with what is expected, its times apart, and checks
// that those are in order.
func Want(t *testing.T, got probe.Result, cause probe.Cause, outcome string, alive bool) {
	t.Helper()
	expected := probe.Result{Cause: cause, Outcome: outcome, Alive: alive}
	if diff := cmp.Diff(expected, got, cmpopts.IgnoreFields(probe.Result{}, "Sent", "Done", "Expires")); diff != "" {
		t.Errorf("unexpected result (-want +got):\n%s", diff)
	}
	if got.Sent.IsZero() || got.Done.Before(got.Sent) {
		t.Errorf("sent at %v, done at %v", got.Sent, got.Done)
	}
}

// Within returns a context with a deadline that lasts no longer than the test.
func Within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
