package load

import (
	"net"
	"net/netip"
)

// Network is where a client's sockets are opened.
type Network struct {
	// Do runs open where the sockets belong, in a network namespace; nil: here.
	Do func(open func() error) error
	// Local are the client's source addresses, at most one a family; none: the
	// kernel's choice.
	Local []netip.Addr
}

// do runs open where the sockets belong.
func (n Network) do(open func() error) error {
	if n.Do == nil {
		return open()
	}
	return n.Do(open)
}

// local is the source address towards a server; invalid: the kernel's choice.
func (n Network) local(server netip.Addr) netip.Addr {
	for _, a := range n.Local {
		if a.Unmap().Is4() == server.Unmap().Is4() {
			return a.Unmap()
		}
	}
	return netip.Addr{}
}

// DialUDP opens a connected UDP socket to a server, from the client's address
// and a port of the kernel's choice.
func (n Network) DialUDP(server netip.AddrPort) (net.Conn, error) {
	var from *net.UDPAddr
	if a := n.local(server.Addr()); a.IsValid() {
		from = net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0))
	}
	var conn net.Conn
	err := n.do(func() (err error) {
		conn, err = net.DialUDP("udp", from, net.UDPAddrFromAddrPort(server))
		return err
	})
	return conn, err
}
