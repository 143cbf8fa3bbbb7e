//go:build !linux

package bfd

import "errors"

// A Scheduling is how the system shares the processor with this process.
type Scheduling struct {
	Policy   string
	Priority int
	Nice     int
}

// Realtime reports false.
func (s Scheduling) Realtime() bool { return false }

// String returns the policy.
func (s Scheduling) String() string { return s.Policy }

// CurrentScheduling fails.
func CurrentScheduling() (Scheduling, error) {
	return Scheduling{}, errors.New("the scheduling is known on Linux only")
}

// SetRealtime fails.
func SetRealtime(int) error {
	return errors.New("real-time scheduling is for Linux only")
}
