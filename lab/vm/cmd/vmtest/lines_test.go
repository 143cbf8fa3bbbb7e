package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestLines has two write at once, in pieces: every line comes out whole.
func TestLines(t *testing.T) {
	var out bytes.Buffer
	var mu sync.Mutex
	var writers sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		writers.Go(func() {
			l := &lines{mu: &mu, out: &out, prefix: name + ": "}
			for i := range 100 {
				fmt.Fprintf(l, "one %d\ntw", i)
				fmt.Fprintf(l, "o %d\n", i)
			}
		})
	}
	writers.Wait()
	var want []string
	for _, name := range []string{"a", "b"} {
		for i := range 100 {
			want = append(want, fmt.Sprintf("%s: one %d", name, i), fmt.Sprintf("%s: two %d", name, i))
		}
	}
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("unexpected lines %q", got)
	}
}
