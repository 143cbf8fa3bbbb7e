package dnsx

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"recuse/probe"
)

// Flow is one source port towards a server. All that is asked over it takes the
// same way, and meets the same node, as long as the routers balance by flow. It
// is for one goroutine.
type Flow struct {
	config Config
	conn   net.Conn // nil: none is open
	ask    func(context.Context, query) finding
}

// Answer is what one inquiry brought.
type Answer struct {
	// Result is Passed if an answer came, of any content. Over TCP the first
	// one's time includes the connection's.
	probe.Result
	// Node is what the answer says of the node, "" if nothing.
	Node string
}

// NewFlow returns a flow over UDP or TCP. Its port is opened by the first Ask,
// from the source address; the zero address leaves that to the kernel.
func NewFlow(s Server, source netip.Addr) *Flow {
	return &Flow{config: Config{Server: s, Local: source}}
}

// Close frees the port.
func (f *Flow) Close() {
	if f.conn != nil {
		f.conn.Close() // Nothing that was written can be lost.
	}
}

// Ask asks once which node the server is. It returns by the deadline of ctx. A
// server may close a connection after an answer (RFC 7766 section 6.2.4): then
// it is asked over a new one.
func (f *Flow) Ask(ctx context.Context, i Inquiry) Answer {
	again := f.conn != nil && f.config.Server.Net == "tcp"
	a := f.once(ctx, i)
	if again && a.Cause == probe.Wrong {
		f.Close()
		f.conn = nil
		a = f.once(ctx, i)
	}
	return a
}

// once is Ask over the connection that is open, if one is.
func (f *Flow) once(ctx context.Context, i Inquiry) Answer {
	sent := time.Now()
	var node string
	q, err := i.query(f.config)
	if err != nil {
		return Answer{Result: unmade(err.Error()).since(sent)}
	}
	q.look = func(m *dns.Msg) finding {
		node = i.identity(m)
		return finding{cause: probe.Passed, text: said(m), alive: true}
	}
	if err := f.open(ctx, q); err != nil {
		return Answer{Result: fromError(ctx, err).since(sent)}
	}
	return Answer{f.ask(ctx, q).since(sent), node}
}

// open opens the port if it is not.
func (f *Flow) open(ctx context.Context, q query) error {
	if f.conn != nil {
		return nil
	}
	if q.Server.Net == "tcp" {
		conn, err := dialTCP(ctx, q)
		if err != nil {
			return err
		}
		f.conn, f.ask = conn, func(ctx context.Context, q query) finding { return askTCP(ctx, q, conn) }
		return nil
	}
	conn, err := listenUDP(ctx, q.Server.Addr.Addr(), q.Local)
	if err != nil {
		return err
	}
	f.conn, f.ask = conn, func(ctx context.Context, q query) finding { return askUDP(ctx, q, conn) }
	return nil
}

// said returns an answer's code and what it adds to it.
func said(m *dns.Msg) string {
	text := rcodeName(m.Rcode) + because(m)
	if m.Truncated {
		text += ", truncated"
	}
	return text
}
