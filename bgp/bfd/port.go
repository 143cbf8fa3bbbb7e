package bfd

import (
	"errors"
	"fmt"
)

// The destination ports (RFC 5881, section 4; RFC 5883, section 5).
const (
	portSingleHop = 3784
	portMultihop  = 4784
)

// An endpoint is what one listening socket is for.
type endpoint struct {
	v6       bool
	multihop bool
}

// port returns the endpoint's UDP port.
func (e endpoint) port() int {
	if e.multihop {
		return portMultihop
	}
	return portSingleHop
}

// errRefused is wrapped by the error of link.send for a packet that did leave,
// but is the answer to an earlier one: nobody listens on the peer's port.
var errRefused = errors.New("the peer refuses the port")

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
	return fmt.Sprintf("failed to listen on UDP port %d: %s has it; "+
		"only one BFD can run here: stop that one, or leave BFD to it", e.Port, holder)
}

// Unwrap returns the kernel's error.
func (e *PortError) Unwrap() error { return e.err }
