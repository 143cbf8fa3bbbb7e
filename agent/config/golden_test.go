package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the errors into testdata/invalid-*.yaml")

// mark begins a line of a test file that holds an expected error.
const mark = "# error: "

// TestInvalid loads every testdata/invalid-*.yaml and expects the errors that
// stand at its beginning, exactly and in that order.
func TestInvalid(t *testing.T) {
	files, err := filepath.Glob("testdata/invalid-*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("found %d files, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			c, err := Load(file)
			if err == nil {
				t.Fatalf("no error, but %+v", c)
			}
			if !errors.As(err, new(Errors)) {
				t.Fatalf("the error is no Errors but %v", err)
			}
			got := strings.Split(err.Error(), "\n")
			if *update {
				rewrite(t, file, got)
			}
			if diff := cmp.Diff(expected(t, file), got); diff != "" {
				t.Errorf("unexpected errors (-want +got):\n%s", diff)
			}
		})
	}
}

// expected returns the errors that a test file names.
func expected(t *testing.T, file string) []string {
	t.Helper()
	var want []string
	for _, line := range lines(t, file) {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			want = append(want, rest)
		}
	}
	return want
}

// rewrite puts errors at the beginning of a test file, in place of those there.
func rewrite(t *testing.T, file string, errors []string) {
	t.Helper()
	body := slices.DeleteFunc(lines(t, file), func(l string) bool { return strings.HasPrefix(l, mark) })
	for _, e := range slices.Backward(errors) {
		body = slices.Insert(body, 0, mark+e)
	}
	if err := os.WriteFile(file, []byte(strings.Join(body, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// lines returns the lines of a file.
func lines(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}
