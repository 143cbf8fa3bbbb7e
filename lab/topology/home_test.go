package topology_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// TestFlat raises clients and nodes on one network behind a home's router, as it
// comes and with what `recuse peering` writes for its kernel. As it comes, the
// first connection over TCP is dropped, the redirect that it brought pins the
// client to one node, and when that falls silent the client is silent too,
// whatever the router's routes say.
func TestFlat(t *testing.T) {
	t.Parallel()
	for _, router := range []string{topology.FRR, topology.BIRD} {
		t.Run(router, func(t *testing.T) {
			t.Parallel()
			flat(t, router, false)
		})
		t.Run(router+" with peering's settings", func(t *testing.T) {
			t.Parallel()
			flat(t, router, true)
		})
	}
}

// flat is one case of TestFlat.
func flat(t *testing.T, router string, settings bool) {
	lab := labtest.Start(t, topology.Options{
		Router: router, Nodes: 2, Clients: 2, Layout: topology.Flat, KernelSettings: settings,
		HoldTime: 3 * time.Second, Configure: quick,
	})
	ctx, service := t.Context(), topology.DefaultAddresses()[0].Addr()
	if err := lab.WaitAnnounced(ctx, announceWithin, lab.Nodes...); err != nil {
		t.Fatal(err)
	}
	client, _ := lab.Asker(1)
	err := overTCP(ctx, client.Host, service)
	if settings && err != nil {
		t.Errorf("over TCP: %v", err)
	}
	if settings {
		oneFlow(t, client.Host, service)
	}
	to, err := client.Redirected(ctx, service)
	if err != nil || (to == "") != settings {
		t.Fatalf("the client was redirected so: %q, %v", to, err)
	}
	gone, stays := lab.Nodes[0], lab.Nodes[1]
	if strings.Contains(to, stays.V4.String()) {
		gone, stays = stays, gone
	}
	if err := gone.Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := lab.WaitAnnounced(ctx, announceWithin, stays); err != nil {
		t.Fatal(err)
	}
	if settings {
		ask(t, client.Host, service, "nas.lan.", dns.TypeA)
	} else {
		silent(t, client.Host, service)
	}
	// The other client has seen no redirect.
	first, _ := lab.Asker(0)
	ask(t, first.Host, service, "nas.lan.", dns.TypeA)
}

// oneFlow asks again and again from one port, each time over a socket of its own:
// a router sends one flow to one node.
func oneFlow(t *testing.T, h *topology.Host, server netip.Addr) {
	t.Helper()
	met := map[string]bool{}
	for range 16 {
		met[whoAnswers(t, h, server, 40053)] = true
	}
	if len(met) != 1 {
		t.Errorf("one flow went to %v", met)
	}
}

// whoAnswers is the NSID in the answer to a question from a port.
func whoAnswers(t *testing.T, h *topology.Host, server netip.Addr, port int) string {
	t.Helper()
	var conn *net.UDPConn
	if err := h.Do(func() (err error) {
		conn, err = net.DialUDP("udp", &net.UDPAddr{Port: port}, net.UDPAddrFromAddrPort(netip.AddrPortFrom(server, 53)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	m := new(dns.Msg)
	m.SetQuestion("nas.lan.", dns.TypeA)
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID}}
	c := dns.Client{Timeout: soon}
	r, _, err := c.ExchangeWithConnContext(t.Context(), m, &dns.Conn{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range r.IsEdns0().Option {
		if n, ok := o.(*dns.EDNS0_NSID); ok {
			return n.Nsid
		}
	}
	t.Fatal("the answer has no NSID")
	return ""
}

// overTCP asks over a connection of its own.
func overTCP(ctx context.Context, h *topology.Host, server netip.Addr) error {
	var conn net.Conn
	if err := h.Do(func() (err error) {
		d := net.Dialer{Timeout: soon}
		conn, err = d.Dial("tcp", netip.AddrPortFrom(server, 53).String())
		return err
	}); err != nil {
		return err
	}
	defer conn.Close()
	m := new(dns.Msg)
	m.SetQuestion("nas.lan.", dns.TypeA)
	c := dns.Client{Net: "tcp", Timeout: soon}
	_, _, err := c.ExchangeWithConnContext(ctx, m, &dns.Conn{Conn: conn})
	return err
}
