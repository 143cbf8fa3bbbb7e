//go:build incus

package incus_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/bench"
	"recuse/lab/incus"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// TestRealRouter has another lab's router stand for a real one, which is reached
// by three interfaces of the machine and knows nothing of Incus.
func TestRealRouter(t *testing.T) {
	bfd := topology.BFD{Interval: 300 * time.Millisecond, Multiplier: 3}
	other := labtest.Start(t, topology.Options{Nodes: 4, BFD: &bfd, WithoutAgent: true, WithoutResolver: true})
	for _, n := range other.Nodes {
		must(t, n.DeleteLink(topology.Device("lan")))
	}
	must(t, other.Client.DeleteLink(topology.Device("clients")))
	must(t, other.Authority.Host.DeleteLink(topology.Device("wan")))
	uplinks := map[string]string{}
	for _, network := range topology.RouterPorts {
		uplinks[network] = wire(t, other, network)
	}
	b := raise(t, incus.Options{Uplinks: uplinks, Nodes: 2,
		Routes: fmt.Sprintf("ip netns exec %s ip route show %s", other.Router.Name, topology.DefaultAddresses()[0])})
	hops(t, b, "n1", "n2")
	must(t, ask(t, b))
	must(t, b.Nodes()[0].Agent().Kill(t.Context()))
	hops(t, b, "n2")
	must(t, ask(t, b))
	if err := b.Router().Restart(t.Context()); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("a restart of the router: %v", err)
	}
	config, _ := filepath.Glob("../../out/incus/router-frr.conf")
	if len(config) != 1 {
		t.Error("no configuration is left for the router")
	}
}

// wire lays a wire from another lab's network to an interface of the machine.
func wire(t *testing.T, other *topology.Lab, network string) string {
	t.Helper()
	near, far := "real-"+network, "near-"+network
	_, err := other.Switch().Run(t.Context(), "ip", "link", "add", far, "type", "veth", "peer", near, "netns", strconv.Itoa(os.Getpid()))
	must(t, err)
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", near).Run() }) // if nobody took it
	_, err = other.Switch().Run(t.Context(), "ip", "link", "set", far, "up", "master", network)
	must(t, err)
	return near
}

// ask puts a question to the service from the first client.
func ask(t *testing.T, b bench.Bench) error {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion("router.lan.", dns.TypeA)
	var conn *net.UDPConn
	from := b.Network(0)
	if err := from.Do(func() (err error) {
		conn, err = net.DialUDP("udp", &net.UDPAddr{IP: from.Local[0].AsSlice()}, net.UDPAddrFromAddrPort(b.Servers()[0]))
		return err
	}); err != nil {
		return err
	}
	defer conn.Close()
	c := dns.Client{Timeout: 5 * time.Second}
	_, _, err := c.ExchangeWithConn(m, &dns.Conn{Conn: conn})
	return err
}
