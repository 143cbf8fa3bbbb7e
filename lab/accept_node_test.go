package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/agent/control"
	"recuse/lab/authority"
	"recuse/lab/load"
	"recuse/lab/topology"
)

// TestNodes raises three nodes behind each kind of router and has every fault
// of a resolver happen to one of them.
func TestNodes(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := network(t, topology.Options{Router: router}, nil)
		announced(t, lab, lab.Nodes...)
		step := func(name string, f func(*testing.T, *topology.Lab)) {
			if t.Failed() {
				return // what failed left its fault behind
			}
			t.Run(name, func(t *testing.T) {
				serving(t, lab)
				f(t, lab)
			})
		}
		step("ECMP of three", ecmp)
		step("status", statusOfServing)
		step("resolver killed and restarted", resolverKilled)
		if router == topology.BIRD {
			step("agent stops", agentStops)
			return
		}
		step("resolver hangs", resolverHangs)
		step("authority fails", authorityFails)
		step("stale answers", staleAnswers)
		step("link set down by hand", linkDownByHand)
		step("address deleted", addressDeleted)
		step("link deleted", linkDeleted)
	})
}

// ecmp has clients of both families meet all three nodes. The next hops
// themselves were compared when the lab was awaited.
func ecmp(t *testing.T, lab *topology.Lab) {
	for _, p := range topology.DefaultAddresses() {
		atRest(t, lab.Router, p)
		records, err := load.Run(t.Context(), load.Config{Rate: 300, Duration: 500 * time.Millisecond,
			Servers: []netip.AddrPort{netip.AddrPortFrom(p.Addr(), 53)}, Clients: []load.Network{{Do: lab.Client.Do}}})
		must(t, err)
		f := load.Summarize(records)
		if f.Lost != 0 || f.Bad != 0 || min(f.Nodes["n1"], f.Nodes["n2"], f.Nodes["n3"]) < 15 {
			t.Errorf("clients of %s: %+v", p, f)
		}
	}
	// The router sends the routes back; no node may install one.
	for _, n := range lab.Nodes {
		_, out := program(t, n, "ip", "route", "show", "table", "all")
		_, six := program(t, n, "ip", "-6", "route", "show", "table", "all")
		for line := range strings.Lines(out + six) {
			if strings.Contains(line, " via ") && !strings.HasPrefix(line, "default ") {
				t.Errorf("%s has installed %s", n.ShortName, line)
			}
		}
	}
	if lab.Router.Kind != topology.FRR {
		return
	}
	// What FRR was told, before it makes anything of it: no :: and no
	// IPv4-mapped address, and the mark of the node.
	out, err := lab.Router.Show(t.Context(), "show bgp ipv6 unicast "+anycast6.String()+" json")
	must(t, err)
	for _, n := range lab.Nodes {
		if !strings.Contains(out, fmt.Sprintf("%q", n.V6)) {
			t.Errorf("FRR does not know %s", n.V6)
		}
		id := n.V4.As4()
		mark := fmt.Sprintf("%d:%d:1937001", n.ASN, uint32(id[0])<<24|uint32(id[1])<<16|uint32(id[2])<<8|uint32(id[3]))
		if !strings.Contains(out, mark) {
			t.Errorf("FRR does not know the mark %s: %s", mark, out)
		}
	}
	if strings.Contains(out, "::ffff:") || strings.Contains(out, `"::"`) {
		t.Errorf("FRR was given a next hop that is none: %s", out)
	}
}

// statusOfServing compares the shape of status --json with the design's.
func statusOfServing(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	code, out := command(t, n, "status", "--json", "-c", n.Path(topology.ConfigFile))
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	var st map[string]any
	must(t, json.Unmarshal([]byte(out), &st))
	s := st["services"].([]any)[0].(tree)
	c := s["checks"].([]any)[0].(tree)
	p := st["peers"].([]any)[0].(tree)
	got := tree{
		"node": st["node"], "service": s["name"], "stance": s["stance"], "level": s["level"], "admin": s["admin"],
		"hold": s["hold_until"], "others": s["others"], "link": s["link"], "addresses": s["addresses"],
		"check": c["name"], "check level": c["level"], "outcome": c["last"].(tree)["outcome"],
		"failures": c["consecutive_failures"], "peer": p["address"], "asn": p["asn"], "state": p["state"],
		"config": st["config"].(tree)["path"], "reload": st["config"].(tree)["last_reload_ok"],
	}
	address := func(p netip.Prefix) tree {
		return tree{"prefix": p.String(), "present": true, "announced": true}
	}
	want := tree{
		"node": "n1", "service": "dns", "stance": "announced", "level": "ok", "admin": "enabled",
		"hold": nil, "others": got["others"], "link": tree{"name": "anycast0", "kind": holderKind(t, n), "up": true},
		"addresses": []any{address(anycast4), address(anycast6)},
		"check":     "local-name", "check level": "ok", "outcome": "NXDOMAIN",
		"failures": 0.0, "peer": "10.60.0.1", "asn": 65000.0, "state": "ESTABLISHED",
		"config": n.Path(topology.ConfigFile), "reload": true,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("unexpected status (-want +got):\n%s", d)
	}
	if _, ok := s["others"].([]any); !ok {
		t.Errorf("others is no list: %v", s["others"])
	}
	for _, key := range []string{"p50_ms", "p95_ms", "p99_ms", "slow_over_ms"} {
		if v, ok := c[key].(float64); !ok || v <= 0 {
			t.Errorf("%s is %v", key, c[key])
		}
	}
	times := tree{"service": s["since"], "peer": p["since"], "check": c["last"].(tree)["at"],
		"config": st["config"].(tree)["loaded_at"]}
	for name, v := range times {
		at, err := time.Parse(time.RFC3339, fmt.Sprint(v))
		if age := time.Since(at); err != nil || age < 0 || age > time.Hour {
			t.Errorf("time of %s: %v, %v", name, v, err)
		}
	}
	if code, out := command(t, n, "status", "-c", n.Path(topology.ConfigFile)); code != 0 ||
		!strings.Contains(out, "ANNOUNCED") {
		t.Errorf("status for people: exit code %d: %s", code, out)
	}
}

// holderKind is the kind of link in the node's configuration.
func holderKind(t *testing.T, n *topology.Node) string {
	code, out := program(t, n, "ip", "-d", "link", "show", topology.AgentLink)
	if code != 0 {
		t.Fatal(out)
	}
	if strings.Contains(out, "dummy") {
		return "dummy"
	}
	return "ifb"
}

// resolverKilled has the node withdraw before it sets the link down, and come
// back with the resolver.
func resolverKilled(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[1]
	w, l, log := capture(t, n), linkMonitor(t, n), len(n.Agent.Log())
	must(t, n.Resolver.Kill())
	announced(t, lab, others(lab, n)...)
	down := l.down(topology.AgentLink)
	list := w.sent(func(l []message) bool { return count(l, "withdraw") >= 2 })
	if _, last := span(list, "withdraw"); down.Sub(last) < 150*time.Millisecond {
		t.Errorf("link down %v after the withdrawal, want the settle of 200ms: %+v", down.Sub(last), list)
	}
	logged(t, n, log, "service changed", "dead", "connection refused")
	reason(t, n, "connection refused")
	if _, code := status(t, n); code != 3 {
		t.Errorf("exit code of status %d, want 3", code)
	}
	must(t, n.Resolver.Start())
	announced(t, lab, lab.Nodes...)
}

// resolverHangs has the node leave for a resolver that says nothing.
func resolverHangs(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[2]
	must(t, n.Resolver.Stop())
	announced(t, lab, others(lab, n)...)
	reason(t, n, "timeout")
	must(t, n.Resolver.Cont())
	announced(t, lab, lab.Nodes...)
}

// authorityFails has every resolver answer SERVFAIL for the local zone: all
// are sick and become second choice, all stay, and names of the internet
// resolve as if nothing were.
func authorityFails(t *testing.T, lab *topology.Lab) {
	client := askingFor(t, lab, 100, internet())
	must(t, lab.Authority.SetFailure(t.Context(), authority.LAN, authority.ServFail))
	for _, n := range lab.Nodes {
		says(t, n, "depreferred and sick", func(s control.Service) bool {
			return s.Stance == "depreferred" && s.Level == "sick" && strings.Contains(s.Reason, "SERVFAIL") &&
				s.OthersKnown == "nobody"
		})
	}
	stay(t, lab, 3*time.Second, lab.Nodes...)
	must(t, lab.Authority.SetFailure(t.Context(), authority.LAN, authority.None))
	serving(t, lab)
	lossless(t, client, 300)
}

// lossless ends a client that must have asked that often and lost nothing.
func lossless(t testing.TB, client *asker, asked int) {
	t.Helper()
	f := client.end()
	t.Logf("%d questions, %d lost, %d failures, longest gap %v, p99 %v, by node %v", f.Asked, f.Lost, f.Bad,
		f.WorstGap.Round(time.Millisecond), f.P99.Round(time.Microsecond), f.Nodes)
	if f.Asked < asked || f.Lost != 0 || f.Bad != 0 {
		t.Errorf("the client asked %d times (want %d), lost %d, got %d failures", f.Asked, asked, f.Lost, f.Bad)
	}
}

// staleAnswers replaces a node's resolver by one that answers everything and
// says that its answers are stale (RFC 8914, code 3).
func staleAnswers(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	must(t, n.Resolver.Kill())
	end := stale(t, n)
	announced(t, lab, others(lab, n)...)
	reason(t, n, "stale")
	end()
	must(t, n.Resolver.Start())
	announced(t, lab, lab.Nodes...)
}

// stale serves stale answers on a node until the returned function is called.
func stale(t *testing.T, n *topology.Node) (end func()) {
	t.Helper()
	var server *dns.Server
	eventually(t, "port 53 free", func() (bool, string) {
		conn, err := n.ListenUDP(&netUDP53)
		if err != nil {
			return false, err.Error()
		}
		server = &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(answerStale)}
		return true, ""
	})
	done := make(chan error, 1)
	go func() { done <- server.ActivateAndServe() }()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		must(t, server.ShutdownContext(ctx))
		must(t, <-done)
	}
}

// answerStale answers NXDOMAIN with the zone's SOA, and that it is stale.
func answerStale(w dns.ResponseWriter, q *dns.Msg) {
	m := new(dns.Msg).SetRcode(q, dns.RcodeNameError)
	m.Ns = []dns.RR{&dns.SOA{Hdr: dns.RR_Header{Name: "lan.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 30},
		Ns: "ns.lan.", Mbox: "ns.lan.", Minttl: 30}}
	m.SetEdns0(1232, false)
	o := m.IsEdns0()
	o.Option = append(o.Option, &dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeStaleAnswer})
	_ = w.WriteMsg(m) // a client that has gone
}
