package control

import (
	"fmt"
	"time"
)

// Drain is the body of POST /v1/drain. The answer comes when the service is
// out of the routing, or when that has failed.
type Drain struct {
	Service string   `json:"service"`
	For     Duration `json:"for,omitempty"` // 0: until it is taken back
	Reason  string   `json:"reason,omitempty"`
	Force   bool     `json:"force,omitempty"` // though nobody else serves
}

// Name is the body of POST /v1/undrain and /v1/resume.
type Name struct {
	Service string `json:"service"`
}

// Duration is written with a unit.
type Duration time.Duration

// MarshalText writes it like 1m30s.
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("failed to read a duration: %w", err)
	}
	*d = Duration(v)
	return nil
}
