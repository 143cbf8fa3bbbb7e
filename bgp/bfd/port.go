package bfd

import "fmt"

// A PortError says that another process listens on a port of BFD.
type PortError struct {
	Port   int
	Holder string // such as "bfdd (pid 812)"; "" if it could not be found
	err    error
}

// Error names the port, its holder and the way out.
func (e *PortError) Error() string {
	holder := "another process"
	if e.Holder != "" {
		holder = e.Holder
	}
	return fmt.Sprintf("failed to listen on UDP port %d: %s has it; only one BFD can run here: stop that one, or leave BFD to it",
		e.Port, holder)
}

// Unwrap returns the kernel's error.
func (e *PortError) Unwrap() error { return e.err }
