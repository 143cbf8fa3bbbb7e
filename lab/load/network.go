package load

import "net/netip"

// Network is where a client's sockets are opened.
type Network struct {
	// Do runs open where the sockets belong, in a network namespace; nil: here.
	Do func(open func() error) error
	// Local are the client's source addresses, at most one a family; none: the
	// kernel's choice.
	Local []netip.Addr
}
