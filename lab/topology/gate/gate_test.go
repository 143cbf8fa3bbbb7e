package gate_test

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// TestGate puts a gate before a real resolver: what passes is the resolver's
// own answer, over both transports and families, from the network and from the
// host itself, with the address that was asked as its source (a connected
// socket takes no other); what is treated is counted.
func TestGate(t *testing.T) {
	t.Parallel()
	lab := labtest.StartBare(t, topology.Options{Nodes: 1})
	n, ctx := lab.Nodes[0], t.Context()
	behave := func(b authority.Behaviour) {
		if err := n.Behave(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(h *topology.Host, rcode int) {
		t.Helper()
		for _, to := range []netip.Addr{n.V4, n.V6} {
			for _, transport := range []string{"udp", "tcp"} {
				m, err := exchange(ctx, h, transport, netip.AddrPortFrom(to, 53).String())
				if err != nil || m.Rcode != rcode {
					t.Errorf("%s asks %s over %s: %v, %v", h.ShortName, to, transport, m, err)
				}
			}
		}
	}
	behave(authority.Behaviour{})
	ask(lab.Client.Host, dns.RcodeSuccess)
	ask(n.Host, dns.RcodeSuccess)
	behave(authority.Behaviour{Failure: authority.ServFail, Delay: time.Millisecond})
	ask(lab.Client.Host, dns.RcodeServerFailure)
	if got, want := n.Behaved(), (authority.Counts{Queries: 12, Failed: 4}); got != want {
		t.Errorf("the gate counts %+v, want %+v", got, want)
	}
}

// exchange asks from a host.
func exchange(ctx context.Context, h *topology.Host, transport, to string) (*dns.Msg, error) {
	var conn net.Conn
	if err := h.Do(func() (err error) {
		conn, err = net.Dial(transport, to)
		return err
	}); err != nil {
		return nil, err
	}
	defer conn.Close()
	m := new(dns.Msg)
	m.SetQuestion("nas.lan.", dns.TypeA)
	c := dns.Client{Net: transport, Timeout: 10 * time.Second}
	r, _, err := c.ExchangeWithConnContext(ctx, m, &dns.Conn{Conn: conn})
	return r, err
}
