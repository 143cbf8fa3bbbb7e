package guest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTotalsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1e6)
		want := Totals{n.Draw(t, "passed"), n.Draw(t, "failed"), n.Draw(t, "skipped")}
		line := want.line()
		if got, ok := ParseTotals(line); !ok || got != want {
			t.Fatalf("got %v, %t of %q, want %v", got, ok, line, want)
		}
		for i := range len(line) {
			if _, ok := ParseTotals(line[:i]); ok {
				t.Fatalf("%q, cut short, is taken for totals", line[:i])
			}
		}
	})
	for _, line := range []string{"", "--- PASS: TestX", " " + (Totals{1, 0, 0}).line(), "recuse-vm-totals: a b c."} {
		if _, ok := ParseTotals(line); ok {
			t.Errorf("%q is taken for totals", line)
		}
	}
}

func TestTotalsVerdict(t *testing.T) {
	tests := []struct {
		totals Totals
		text   string
		ok     bool
	}{
		{Totals{}, "0 passed, 0 failed", false},
		{Totals{Passed: 12}, "12 passed, 0 failed", true},
		{Totals{Passed: 12, Failed: 1}, "12 passed, 1 failed", false},
		{Totals{Skipped: 2}, "0 passed, 0 failed, 2 skipped", false},
		{Totals{Passed: 1, Skipped: 2}, "1 passed, 0 failed, 2 skipped", true},
	}
	for _, tt := range tests {
		if tt.totals.String() != tt.text || tt.totals.OK() != tt.ok {
			t.Errorf("got %q, %t, want %q, %t", tt.totals, tt.totals.OK(), tt.text, tt.ok)
		}
	}
}

// TestRun runs scripts in place of test binaries.
func TestRun(t *testing.T) {
	tests := []struct {
		name   string
		script string
		want   Totals
		out    string
	}{
		{"counts tests, not subtests", `echo "=== RUN   TestA"; echo "--- PASS: TestA (0.00s)"; echo "    --- PASS: TestA/x (0.00s)"
echo "--- SKIP: TestB (0.00s)"; echo "--- FAIL: TestC (0.00s)"; echo FAIL; exit 1`,
			Totals{1, 1, 1}, "--- FAIL: TestC (0.00s)\nFAIL\n"},
		{"panic after a passed test", `echo "--- PASS: TestA (0.00s)"; echo "panic: no" >&2; exit 2`,
			Totals{1, 1, 0}, "panic: no\nrecuse-vm: ./pkg: exit status 2\n"},
		{"killed", `kill -9 $$`, Totals{0, 1, 0}, "recuse-vm: ./pkg: signal: killed\n"},
		{"no tests", `echo "testing: warning: no tests to run"; echo PASS`, Totals{}, "PASS\n"},
		{"an unfinished line", `printf -- "--- PASS: TestA (0.00s)"`, Totals{1, 0, 0}, "--- PASS: TestA (0.00s)"},
		{"arguments, environment, directory", `[ "$1 $2 $A" = "-test.v -test.run=X b" ] && [ -e here ] && echo "--- PASS: TestA"`,
			Totals{1, 0, 0}, "--- PASS: TestA\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "here")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			got := Test{Name: "./pkg", Path: path, Dir: dir, Args: []string{"-test.run=X"}}.run([]string{"A=b"}, &out)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unexpected totals (-want +got):\n%s", diff)
			}
			if !strings.HasSuffix(out.String(), tt.out) {
				t.Errorf("got output %q, want it to end in %q", &out, tt.out)
			}
		})
	}
	var out bytes.Buffer
	if got := (Test{Name: "./pkg", Path: "/nonexistent"}).run(nil, &out); got != (Totals{Failed: 1}) {
		t.Errorf("got %v for a binary that is not there, want one failure", got)
	}
}
