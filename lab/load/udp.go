package load

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/miekg/dns"
)

// ask asks the server over UDP, once, on a socket of its own.
func ask(server netip.AddrPort, timeout time.Duration, dial func(netip.AddrPort) (net.Conn, error), q Question) Answer {
	a := exchange(server, timeout, dial, q)
	a.Server, a.Ended, a.Via, a.Attempts = server.Addr().String(), time.Now(), ViaUDP, 1
	return a
}

// exchange puts one question on a socket of its own.
func exchange(server netip.AddrPort, timeout time.Duration, dial func(netip.AddrPort) (net.Conn, error), q Question) Answer {
	m := question(q)
	wire, err := m.Pack()
	if err != nil {
		return Answer{Outcome: Unsent, Error: err.Error()}
	}
	conn, err := dial(server)
	if err != nil {
		return Answer{Outcome: Unsent, Error: err.Error()}
	}
	defer conn.Close()
	sent := time.Now()
	if err := errors.Join(conn.SetDeadline(sent.Add(timeout)), write(conn, wire)); err != nil {
		return Answer{Outcome: Unsent, Error: err.Error()}
	}
	a := await(conn, m)
	a.Sent = sent
	return a
}

// write sends the question.
func write(conn net.Conn, wire []byte) error {
	_, err := conn.Write(wire)
	return err
}

// question is the message for q: EDNS with a size that no path fragments, and a
// request for the server's identity (RFC 5001).
func question(q Question) *dns.Msg {
	m := new(dns.Msg)
	m.SetQuestion(q.Name, q.Type)
	m.SetEdns0(1232, false)
	opt := m.IsEdns0()
	opt.Option = append(opt.Option, &dns.EDNS0_NSID{Code: dns.EDNS0NSID})
	return m
}

// await reads until the answer to m comes. Anything else is ignored, as a
// resolver library does.
func await(conn net.Conn, m *dns.Msg) Answer {
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return Answer{Outcome: Timeout}
		}
		if err != nil {
			return Answer{Outcome: Refused, Error: fmt.Sprint(err)}
		}
		var r dns.Msg
		if r.Unpack(buf[:n]) != nil || !answers(&r, m) {
			continue
		}
		return Answer{Outcome: Answered, Rcode: r.Rcode, Node: identity(&r)}
	}
}

// answers reports whether r is the answer to m.
func answers(r, m *dns.Msg) bool {
	return r.Response && r.Id == m.Id && len(r.Question) == 1 && r.Question[0] == m.Question[0]
}

// identity is the NSID of an answer as text.
func identity(r *dns.Msg) string {
	opt := r.IsEdns0()
	if opt == nil {
		return ""
	}
	for _, o := range opt.Option {
		if n, ok := o.(*dns.EDNS0_NSID); ok {
			return unhex(n.Nsid)
		}
	}
	return ""
}

// unhex turns the hex digits of an NSID into text; what is none stays as it is.
func unhex(s string) string {
	b, err := hex.DecodeString(s)
	if err != nil {
		return s
	}
	return string(b)
}
