package bfd

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSchedulingString(t *testing.T) {
	tests := []struct {
		s        Scheduling
		want     string
		realtime bool
	}{
		{Scheduling{Policy: "SCHED_OTHER", Nice: -5}, "SCHED_OTHER nice -5", false},
		{Scheduling{Policy: "SCHED_FIFO", Priority: 20}, "SCHED_FIFO 20", true},
		{Scheduling{Policy: "SCHED_RR", Priority: 1}, "SCHED_RR 1", true},
		{Scheduling{Policy: "mixed"}, "mixed nice 0", false},
	}
	for _, tt := range tests {
		if got := tt.s.String(); got != tt.want || tt.s.Realtime() != tt.realtime {
			t.Errorf("got %q, real-time %t, want %q, %t", got, tt.s.Realtime(), tt.want, tt.realtime)
		}
	}
}

// TestSetRealtime: every thread is set, those that are born later inherit it,
// and one thread that differs is seen.
func TestSetRealtime(t *testing.T) {
	needRoot(t)
	before, err := CurrentScheduling()
	if err != nil {
		t.Fatal(err)
	}
	if before.Realtime() {
		t.Fatalf("the test itself runs under %v", before)
	}
	defer func() {
		if err := setScheduling(&unix.SchedAttr{Policy: unix.SCHED_NORMAL}); err != nil {
			t.Fatal(err)
		}
	}()
	if err := SetRealtime(7); err != nil {
		t.Fatal(err)
	}
	inThreads(8, func() {})
	if got, err := CurrentScheduling(); err != nil || got != (Scheduling{Policy: "SCHED_RR", Priority: 7}) {
		t.Errorf("got %v, %v", got, err)
	}
	inThreads(1, func() {
		a := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
		if err := unix.SchedSetAttr(0, a, 0); err != nil {
			t.Error(err)
		}
		if got, err := CurrentScheduling(); err != nil || got.Policy != "mixed" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// inThreads runs f on n threads at once that end afterwards.
func inThreads(n int, f func()) {
	start, done := make(chan struct{}), make(chan struct{})
	for range n {
		go func() {
			runtime.LockOSThread()
			<-start
			f()
			done <- struct{}{}
		}()
	}
	close(start)
	for range n {
		<-done
	}
}
