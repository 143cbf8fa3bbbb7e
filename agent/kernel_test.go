package agent

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/agent/config"
	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
	"recuse/netlinkx/netnstest"
)

// TestKernel runs the whole agent on a real kernel, with a DNS server of this
// process in place of a resolver and a router that does not exist: what the
// link does, from the start to the end. It is run again in a virtual machine,
// on a kernel with a real dummy link.
func TestKernel(t *testing.T) {
	if !netnstest.Isolate(t) {
		return
	}
	k := newKernelRun(t)
	k.waitFor("the link is made, down", func() bool {
		return k.state() == k.link("down")
	})
	k.serve()
	k.waitFor("up once the checks have passed", func() bool {
		return k.state() == k.link("up")+"  address 192.0.2.53/32\n"+
			"  address 2001:db8:9::53/128\n"
	})
	k.stopServing()
	k.waitFor("down when nobody answers", func() bool {
		return strings.HasPrefix(k.state(), k.link("down"))
	})
	k.serve()
	k.waitFor("up again", func() bool {
		return strings.HasPrefix(k.state(), k.link("up"))
	})
	k.waitFor("waiting for a router", func() bool {
		return k.phase() == "serving"
	})
	k.box.SetDown()
	k.waitFor("left to the operator", func() bool { return k.phase() == "held" })
	k.box.SetUp()
	k.waitFor("back with every address", func() bool {
		return k.phase() == "serving" && strings.Contains(k.state(), "::53/128\n")
	})
	k.box.DeleteLink()
	k.waitFor("put back", func() bool {
		return k.phase() == "serving" && strings.HasPrefix(k.state(), k.link("up"))
	})
	k.end()
	if got := k.box.String(); got != "" {
		t.Errorf("left behind:\n%s", got)
	}
}

// kernelRun is an agent that runs in this process's namespace.
type kernelRun struct {
	t       *testing.T
	kind    string
	agent   *Agent
	box     *netlinktest.Box
	servers []*dns.Server
	stop    context.CancelFunc
	done    chan error
	last    string // what was seen last, for the error
}

// newKernelRun brings lo up and starts an agent.
func newKernelRun(t *testing.T) *kernelRun {
	t.Helper()
	k := &kernelRun{t: t, kind: netlinktest.Kind(t), done: make(chan error, 1)}
	netlinktest.NewBox(t, netlinkx.Config{Service: "lo", Link: "lo",
		Kind: netlinkx.KindExisting, Addresses: k.addresses()}).SetUp()
	dir := t.TempDir()
	path := filepath.Join(dir, "recuse.yaml")
	text := fmt.Sprintf(`
node: n1
state_dir: %[1]s/state
control: {socket: %[1]s/sock}
http: {listen: ""}
bgp: {asn: 65011, router_id: 192.0.2.11, peers: [{address: 127.0.0.9, asn: 65000}]}
services:
  - name: dns
    addresses: [192.0.2.53/32, "2001:db8:9::53/128"]
    link: {kind: %[2]s}
    hold: {min: 1ms, max: 1ms}
    checks:
      - name: local-name
        dns: {server: "127.0.0.1:53", name: "{random}.lan", rcode: [NXDOMAIN]}
        interval: 200ms
        timeout: 150ms
        rise: 2
`, dir, k.kind)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	conf, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	log := NewLog(os.Stdout, conf.Log)
	t.Cleanup(log.Close)
	if k.agent, err = New(conf, "test", log); err != nil {
		t.Fatal(err)
	}
	k.box = netlinktest.NewBox(t, netlinkx.Config{Service: "dns",
		Link: "anycast0", Kind: k.kind, Addresses: k.addresses()})
	var stop context.Context
	stop, k.stop = context.WithCancel(context.Background())
	go func() { k.done <- k.agent.Run(stop, stop) }()
	return k
}

// addresses are the service's.
func (k *kernelRun) addresses() []prefix { return []prefix{addr4, addr6} }

// link renders the link in a state, as Box does.
func (k *kernelRun) link(state string) string {
	return fmt.Sprintf("link anycast0 %s %s \"recuse:dns\"\n", k.kind, state)
}

// state renders what the kernel says, without the unreachable route, which must
// stand all the time.
func (k *kernelRun) state() string {
	const guard = "unreachable 2001:db8:9::53/128\n"
	s := k.box.String()
	k.last = s
	if !strings.HasSuffix(s, guard) {
		return "no guard"
	}
	return strings.TrimSuffix(s, guard)
}

// phase is what status says.
func (k *kernelRun) phase() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	st, err := k.agent.Status(ctx)
	if err != nil {
		k.t.Fatal(err)
	}
	k.last = fmt.Sprintf("%s: %s", st.Services[0].Phase, st.Services[0].Reason)
	return st.Services[0].Phase
}

// waitFor polls a condition.
func (k *kernelRun) waitFor(what string, ok func() bool) {
	k.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			k.t.Fatalf("not %s; last seen:\n%s", what, k.last)
		}
		<-tick.C
	}
}

// serve answers NXDOMAIN on every address, and from the address that was asked.
func (k *kernelRun) serve() {
	k.t.Helper()
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeNameError))
	})
	for _, network := range []string{"udp4", "udp6"} {
		conn, err := net.ListenPacket(network, ":53")
		if err != nil {
			k.t.Fatal(err)
		}
		s := &dns.Server{PacketConn: conn, Handler: handler}
		k.servers = append(k.servers, s)
		go func() { _ = s.ActivateAndServe() }()
	}
}

// stopServing closes the servers' sockets.
func (k *kernelRun) stopServing() {
	for _, s := range k.servers {
		_ = s.PacketConn.Close()
	}
	k.servers = nil
}

// end stops the agent in order.
func (k *kernelRun) end() {
	k.t.Helper()
	k.stop()
	select {
	case err := <-k.done:
		if err != nil {
			k.t.Errorf("unexpected end: %v", err)
		}
	case <-time.After(20 * time.Second):
		k.t.Fatal("the agent does not end")
	}
}
