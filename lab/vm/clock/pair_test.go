//go:build vm

package clock

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/agent"
	"recuse/agent/config"
	"recuse/agent/control"
)

// hold is the service's hold, the first and the longest.
const hold = 10 * time.Second

// patience bounds every wait: the processor is emulated.
const patience = time.Minute

// settings is the configuration of an agent. Two of them are each other's
// router: one listens, the other dials.
const settings = `
node: %[1]s
state_dir: %[2]s/state
control: {socket: %[2]s/sock}
http: {listen: ""}
bgp:
  asn: %[3]d
  router_id: %[4]s
  %[5]s
  peers:
    - {address: %[6]s, asn: %[7]d, local_address: %[4]s, hold_time: 9s, bfd: {interval: 300ms, multiplier: 10}}
services:
  - name: dns
    addresses: [192.0.2.53/32]
    link: {kind: dummy}
    hold: {min: 10s, max: 10s}
    drain: 300ms
    yield_wait: 1s
    drain_timeout: 2s
    checks:
      - {name: local-name, dns: {server: "127.0.0.1:53", name: "{random}.lan", rcode: [NXDOMAIN]}, interval: 300ms, timeout: 2s, rise: 2, slow: {over: 1s}}
`

// pair is an agent of this process, and one of a child in a network namespace of
// its own.
type pair struct {
	t      *testing.T
	first  *control.Client
	server *dns.Server
}

// newPair starts them, and waits until the first serves and is in touch.
func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t}
	p.hear()
	startPeer(t)
	dir := t.TempDir()
	a, log, err := newAgent(dir, "n1", 65011, here, "", there, 65009)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx, ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the agent ended with %v", err)
		}
		log.Close()
	})
	p.first = control.NewClient(filepath.Join(dir, "sock"))
	p.until("in touch", func(s control.Status) bool {
		o := s.Peers[0]
		return s.Services[0].Stance == "announced" && o.State == "ESTABLISHED" && o.BFD.State == "UP"
	})
	return p
}

// newAgent makes an agent with its files in a directory.
func newAgent(dir, node string, asn int, own netip.Addr, listen string, peer netip.Addr, peerASN int) (*agent.Agent, *agent.Log, error) {
	path := filepath.Join(dir, "recuse.yaml")
	text := fmt.Sprintf(settings, node, dir, asn, own, listen, peer, peerASN)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	conf, err := config.Load(path)
	if err != nil {
		return nil, nil, err
	}
	log := agent.NewLog(os.Stdout, conf.Log)
	a, err := agent.New(conf, "test", log)
	return a, log, err
}

// hear has the first agent's resolver answer.
func (p *pair) hear() {
	p.t.Helper()
	server, err := serve()
	if err != nil {
		p.t.Fatal(err)
	}
	p.server = server
	p.t.Cleanup(func() { _ = server.PacketConn.Close() }) // deaf may have closed it
}

// serve answers NXDOMAIN on every IPv4 address, until the socket is closed.
func serve() (*dns.Server, error) {
	conn, err := net.ListenPacket("udp4", ":53")
	if err != nil {
		return nil, err
	}
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeNameError)) // the asker may be gone
	})}
	go func() { _ = server.ActivateAndServe() }()
	return server, nil
}

// deaf ends the answers.
func (p *pair) deaf() {
	p.t.Helper()
	if err := p.server.PacketConn.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// status is the first agent's.
func (p *pair) status() (control.Status, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	return p.first.Status(ctx)
}

// until waits for a status.
func (p *pair) until(what string, ok func(control.Status) bool) {
	p.t.Helper()
	// A timer runs by the monotonic clock, as does the difference of two times.
	for begin, tick := time.Now(), time.Tick(20*time.Millisecond); ; <-tick {
		s, err := p.status()
		if err == nil && len(s.Peers) == 1 && s.Peers[0].BFD != nil && len(s.Services) == 1 && ok(s) {
			return
		}
		if time.Since(begin) > patience {
			p.t.Fatalf("not %s within %v: %v, %+v", what, patience, err, s)
		}
	}
}

// waitFor waits for a status of the service.
func (p *pair) waitFor(what string, ok func(control.Service) bool) {
	p.t.Helper()
	p.until(what, func(s control.Status) bool { return ok(s.Services[0]) })
}

// lasts fails the test if the service does not stay so for a time.
func (p *pair) lasts(d time.Duration, what string, ok func(control.Service) bool) {
	p.t.Helper()
	begin := time.Now()
	p.until(what, func(s control.Status) bool {
		if !ok(s.Services[0]) {
			p.t.Fatalf("not %s any more after %v: %+v", what, time.Since(begin), s.Services[0])
		}
		return time.Since(begin) > d
	})
}

// drain takes the first agent's service out for a time, though nobody else
// serves.
func (p *pair) drain(d time.Duration) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	if err := p.first.Drain(ctx, control.Drain{Service: "dns", For: control.Duration(d), Force: true}); err != nil {
		p.t.Fatal(err)
	}
}

// sessions is what tells the first agent's sessions from later ones, and how
// many decisions it has taken.
func (p *pair) sessions() (text []string) {
	p.t.Helper()
	s, err := p.status()
	if err != nil {
		p.t.Fatal(err)
	}
	o := s.Peers[0]
	text = append(text, fmt.Sprint(o.State, " since ", o.Since.UnixNano()))
	return append(text, fmt.Sprint(o.BFD.State, " since ", o.BFD.Since.UnixNano(), ", transitions ", len(o.BFD.Transitions)))
}

// same fails the test unless the sessions are those.
func (p *pair) same(before []string) {
	p.t.Helper()
	if diff := cmp.Diff(before, p.sessions()); diff != "" {
		p.t.Errorf("the sessions (-before +after):\n%s", diff)
	}
}

// decisions are what the first agent has decided.
func (p *pair) decisions() (list []control.Event) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	err := p.first.Events(ctx, false, func(e control.Event) error {
		list = append(list, e)
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// quiet does something and fails the test if the first agent decides anything
// for a moment, or its sessions or its checks change.
func (p *pair) quiet(what string, do func()) {
	p.t.Helper()
	sessions, decided := p.sessions(), len(p.decisions())
	do()
	p.lasts(moment, "announced after a step "+what, func(s control.Service) bool {
		return s.Stance == "announced" && s.Level == "ok"
	})
	p.same(sessions)
	if list := p.decisions(); len(list) != decided {
		p.t.Errorf("after a step %s it decided %+v", what, list[decided:])
	}
}
