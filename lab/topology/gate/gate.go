// Package gate stands between a resolver and those who ask it, and makes its
// answers late, wrong or missing, from the cache or not, over UDP and TCP. The
// resolver behind it is untouched.
//
// The kernel of the resolver's host redirects to it what comes for port 53, from
// the network and from the host itself, so a gate opens under running clients: a
// query that is under way is answered as it began. It never closes, since
// answers that are still late would come from the wrong port; with no behaviour
// set it passes everything.
package gate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"recuse/lab/authority"
)

// Port is where a gate listens, on every address.
const Port = 5300

// mark is the firewall mark of the gate's own queries, which are let through.
const mark = 0x6a7e

// patience is how long a resolver may take.
const patience = 10 * time.Second

// Rules redirect a host's DNS to its gate, for nft. A TCP connection that is
// already open when they come is left alone.
var Rules = fmt.Sprintf(`table inet gate {
	chain network {
		type nat hook prerouting priority dstnat;
		iifname != "lo" udp dport 53 redirect to :%[1]d
		iifname != "lo" tcp dport 53 tcp flags & (syn | ack) == syn redirect to :%[1]d
	}
	chain host {
		type nat hook output priority -100;
		meta mark %#[2]x return
		fib daddr type local udp dport 53 redirect to :%[1]d
		fib daddr type local tcp dport 53 tcp flags & (syn | ack) == syn redirect to :%[1]d
	}
}
`, Port, mark)

// Gate is one host's. Its behaviour is set while it runs.
type Gate struct {
	do      func(func() error) error
	servers []*dns.Server
	running sync.WaitGroup

	authority.Treatment
}

// New opens a gate where do runs what it is given: in the namespace of a host
// whose resolver listens on 127.0.0.1, port 53. Rules bring it its queries.
func New(do func(func() error) error) (*Gate, error) {
	g := &Gate{do: do}
	var udp net.PacketConn
	var tcp net.Listener
	at := fmt.Sprintf(":%d", Port)
	if err := do(func() (err error) {
		if udp, err = net.ListenPacket("udp", at); err != nil {
			return err
		}
		tcp, err = net.Listen("tcp", at)
		return err
	}); err != nil {
		if udp != nil {
			err = errors.Join(err, udp.Close())
		}
		return nil, fmt.Errorf("failed to open a gate: %w", err)
	}
	g.servers = []*dns.Server{
		{PacketConn: udp, Net: "udp", Handler: g},
		{Listener: tcp, Net: "tcp", Handler: g},
	}
	var started sync.WaitGroup
	for _, s := range g.servers {
		started.Add(1)
		s.NotifyStartedFunc = started.Done
		// It ends with Close; till then there is nobody to tell of an error.
		g.running.Go(func() { _ = s.ActivateAndServe() })
	}
	started.Wait() // what has not started cannot be closed
	return g, nil
}

// Close closes the gate's sockets.
func (g *Gate) Close() error {
	var errs []error
	for _, s := range g.servers {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		// Queries that are still under way need no answer any more.
		if err := s.ShutdownContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
			errs = append(errs, err)
		}
		cancel()
	}
	g.running.Wait()
	return errors.Join(errs...)
}

// ServeDNS passes one query on and its answer back, or treats it.
func (g *Gate) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	network := w.LocalAddr().Network()
	b := g.Next(network)
	due := time.Now().Add(b.Delay)
	r := new(dns.Msg)
	switch b.Failure {
	case authority.Drop:
		return
	case authority.ServFail:
		r.SetRcode(q, dns.RcodeServerFailure)
	default:
		var err error
		if r, err = g.pass(q, network); err != nil {
			return // as silent as the resolver
		}
		due = time.Now().Add(b.Delay)
	}
	time.Sleep(time.Until(due))
	// A client that has gone needs no answer.
	_ = w.WriteMsg(r)
}

// pass asks the resolver, over the client's own transport.
func (g *Gate) pass(q *dns.Msg, network string) (*dns.Msg, error) {
	d := net.Dialer{Timeout: patience, Control: func(_, _ string, c syscall.RawConn) (err error) {
		outer := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MARK, mark) })
		return errors.Join(outer, err)
	}}
	var conn net.Conn
	if err := g.do(func() (err error) {
		conn, err = d.Dial(network, "127.0.0.1:53")
		return err
	}); err != nil {
		return nil, err
	}
	defer conn.Close()
	c := dns.Client{Net: network, Timeout: patience, UDPSize: dns.MaxMsgSize}
	r, _, err := c.ExchangeWithConn(q, &dns.Conn{Conn: conn, UDPSize: dns.MaxMsgSize})
	if err != nil {
		return nil, err
	}
	r.Compress = true
	return r, nil
}
