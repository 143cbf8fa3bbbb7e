package cable

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// pinger sends echo requests and measures how long the far kernel's replies
// take.
type pinger struct {
	conn     *icmp.PacketConn
	to       net.Addr
	request  icmp.Type
	protocol int
	sent     int
}

// newPinger opens a raw socket on the left host.
func (b *bed) newPinger(t testing.TB, to string) *pinger {
	t.Helper()
	p := &pinger{to: &net.IPAddr{IP: net.ParseIP(to)}, request: ipv4.ICMPTypeEcho, protocol: 1}
	network := "ip4:icmp"
	if net.ParseIP(to).To4() == nil {
		network, p.request, p.protocol = "ip6:ipv6-icmp", ipv6.ICMPTypeEchoRequest, 58
	}
	b.left.must(t, func() (err error) {
		p.conn, err = icmp.ListenPacket(network, "")
		return err
	})
	t.Cleanup(func() { _ = p.conn.Close() })
	return p
}

// ping sends one request and returns how long its reply took, or an error after
// that wait.
func (p *pinger) ping(wait time.Duration) (time.Duration, error) {
	p.sent++
	m := icmp.Message{Type: p.request, Body: &icmp.Echo{ID: 7, Seq: p.sent & 0xffff, Data: make([]byte, 56)}}
	wire, err := m.Marshal(nil)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := p.conn.SetReadDeadline(start.Add(wait)); err != nil {
		return 0, err
	}
	if _, err := p.conn.WriteTo(wire, p.to); err != nil {
		return 0, fmt.Errorf("failed to send: %w", err)
	}
	buf := make([]byte, 1500)
	for {
		n, _, err := p.conn.ReadFrom(buf)
		if err != nil {
			return 0, fmt.Errorf("failed to hear of request %d: %w", p.sent, err)
		}
		took := time.Since(start)
		reply, err := icmp.ParseMessage(p.protocol, buf[:n])
		if err != nil {
			return 0, err
		}
		if echo, ok := reply.Body.(*icmp.Echo); ok && echo.Seq == p.sent&0xffff && reply.Type != p.request {
			return took, nil
		}
	}
}

// rtts are the round trip times of n pings, sorted, none of them lost.
func (p *pinger) rtts(t testing.TB, n int) []time.Duration {
	t.Helper()
	var all []time.Duration
	for range n {
		rtt, err := p.ping(10 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rtt)
	}
	slices.Sort(all)
	return all
}
