//go:build !linux

package bfd

import "errors"

// unsupported is the transport of systems for which there are no sockets.
type unsupported struct{}

// newSockets returns a transport that opens nothing.
func newSockets(func(*datagram)) unsupported { return unsupported{} }

// open fails.
func (unsupported) open(*Config) (link, error) {
	return nil, errors.New("BFD needs Linux")
}

// close does nothing.
func (unsupported) close() {}
