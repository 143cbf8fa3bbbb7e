//go:build vm

package clock

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"recuse/agent/control"
	"recuse/lab/vm/guest"
)

// hour is by how much the clock is stepped; moment is for how long it stays so
// while nothing happens: longer than the BGP hold time and BFD's detection time.
// glance is the same while something does.
const (
	hour   = time.Hour
	moment = 12 * time.Second
	glance = 2 * time.Second
)

// step sets the wall clock forward, or back, inside the virtual machine.
func step(t *testing.T, d time.Duration) {
	t.Helper()
	if _, err := os.Stat(guest.PlanPath); err != nil || os.Getenv("HOME") != "/" {
		t.Fatal("this is no virtual machine: the clock is left alone")
	}
	before, mono := time.Now().Round(0), time.Now()
	tv := unix.NsecToTimeval(time.Now().Add(d).UnixNano())
	if err := unix.Settimeofday(&tv); err != nil {
		t.Fatalf("failed to set the clock: %v", err)
	}
	moved := time.Now().Round(0).Sub(before) - time.Since(mono)
	if off := moved - d; off.Abs() > time.Second {
		t.Fatalf("the clock moved by %v, want %v", moved, d)
	}
}

// TestStep has the wall clock step by an hour, both ways, while nothing else
// happens: no decision, the same sessions. Then while a drain and while a hold
// run: each ends when it would have, and not by the calendar.
func TestStep(t *testing.T) {
	p := newPair(t)
	p.quiet("forward", func() { step(t, hour) })
	p.quiet("back", func() { step(t, -hour); step(t, -hour) })
	step(t, hour)

	const drain = 8 * time.Second
	sessions := p.sessions()
	begin := time.Now()
	p.drain(drain)
	p.waitFor("drained", func(s control.Service) bool { return s.Admin == "drained" && s.Stance == "withdrawn" })
	step(t, hour)
	p.lasts(glance, "drained", func(s control.Service) bool { return s.Admin == "drained" })
	step(t, -2*hour)
	p.waitFor("no longer drained", func(s control.Service) bool { return s.Admin == "enabled" })
	if took := time.Since(begin); took < drain || took > 3*drain {
		t.Errorf("a drain of %v ended after %v", drain, took)
	}
	step(t, hour)
	p.waitFor("announced", func(s control.Service) bool { return s.Stance == "announced" })

	p.deaf()
	p.waitFor("dead", func(s control.Service) bool { return s.Stance == "withdrawn" && s.Level == "dead" })
	begin = time.Now()
	p.hear()
	p.waitFor("held", func(s control.Service) bool { return s.Stance == "depreferred" && s.Level == "ok" })
	step(t, hour)
	p.lasts(glance, "held", func(s control.Service) bool { return s.Stance == "depreferred" })
	step(t, -2*hour)
	p.waitFor("announced", func(s control.Service) bool { return s.Stance == "announced" })
	if took := time.Since(begin); took < hold-time.Second || took > 3*hold {
		t.Errorf("a hold of %v ended after %v", hold, took)
	}
	step(t, hour)
	p.same(sessions)
}
