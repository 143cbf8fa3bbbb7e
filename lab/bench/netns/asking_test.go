package netns_test

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/bench"
	"recuse/lab/load"
	"recuse/lab/topology"
)

// tally is what became of questions: the answers by node, and the lost ones.
type tally struct {
	nodes map[string]int
	lost  int
}

// ask puts n questions to a server from client i, each from a new port.
func ask(t *testing.T, b bench.Bench, i int, server netip.AddrPort, n int) tally {
	t.Helper()
	all := tally{nodes: map[string]int{}}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() {
			node, err := one(b.Network(i), server, "nas.lan.")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				all.lost++
			} else {
				all.nodes[node]++
			}
		})
	}
	wait.Wait()
	return all
}

// one puts a question and returns the node that answered, by NSID.
func one(from load.Network, server netip.AddrPort, name string) (string, error) {
	r, err := reply(from, server, name)
	return nodeOf(r), err
}

// reply puts a question from a new port.
func reply(from load.Network, server netip.AddrPort, name string) (*dns.Msg, error) {
	var conn *net.UDPConn
	if err := from.Do(func() (err error) {
		conn, err = net.DialUDP("udp", &net.UDPAddr{IP: from.Local[0].AsSlice()}, net.UDPAddrFromAddrPort(server))
		return err
	}); err != nil {
		return nil, err
	}
	defer conn.Close()
	return over(conn, name)
}

// over puts a question over a socket.
func over(conn *net.UDPConn, name string) (*dns.Msg, error) {
	m := new(dns.Msg)
	m.SetQuestion(name, dns.TypeA)
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID}}
	c := dns.Client{Timeout: 3 * time.Second}
	r, _, err := c.ExchangeWithConn(m, &dns.Conn{Conn: conn})
	return r, err
}

// nodeOf is the node that answered; "" if there is no answer or it does not say.
func nodeOf(r *dns.Msg) string {
	if r == nil || r.IsEdns0() == nil {
		return ""
	}
	for _, o := range r.IsEdns0().Option {
		if id, ok := o.(*dns.EDNS0_NSID); ok {
			name, _ := hex.DecodeString(id.Nsid)
			return string(name)
		}
	}
	return ""
}

// flows are sockets that stay open.
type flows []*net.UDPConn

// openFlows opens n flows to the first server.
func openFlows(t *testing.T, b bench.Bench, n int) flows {
	t.Helper()
	var all flows
	for range n {
		must(t, b.Network(0).Do(func() error {
			c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(b.Servers()[0]))
			all = append(all, c)
			return err
		}))
	}
	t.Cleanup(func() {
		for _, c := range all {
			_ = c.Close()
		}
	})
	return all
}

// ask asks once over every flow and returns who answered.
func (f flows) ask(t *testing.T) []string {
	t.Helper()
	var nodes []string
	for _, c := range f {
		r, err := over(c, "nas.lan.")
		must(t, err)
		nodes = append(nodes, nodeOf(r))
	}
	return nodes
}

// rcode wants that response code.
func rcode(t *testing.T, b bench.Bench, server netip.AddrPort, name string, want int) {
	t.Helper()
	r, err := reply(b.Network(0), server, name)
	if err != nil || r.Rcode != want {
		t.Errorf("%s says of %s: %v, %v; want %s", server, name, r, err, dns.RcodeToString[want])
	}
}

// served waits until that host answers what nobody has cached.
func served(t *testing.T, b bench.Bench, at netip.AddrPort, want string) {
	t.Helper()
	if err := topology.Within(t.Context(), soon, want+" answers", func() (bool, string) {
		who, err := one(b.Network(0), at, fmt.Sprintf("%x.fresh.internet.example.", time.Now().UnixNano()))
		return who == want, fmt.Sprint(who, err)
	}); err != nil {
		t.Fatal(err)
	}
}
