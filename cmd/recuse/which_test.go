package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/probe/dnsx/catchment"
)

// nameserver answers on a free UDP port with what handle returns, nothing if
// that is nil, and returns its address. The n-th question is counted from 0.
func nameserver(t *testing.T, handle func(n int, q *dns.Msg) *dns.Msg) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		if m := handle(int(n.Add(1)-1), q); m != nil {
			_ = w.WriteMsg(m) // Who did not get it says so.
		}
	})}
	up, ended := make(chan struct{}), make(chan error, 1)
	s.NotifyStartedFunc = func() { close(up) }
	go func() { ended <- s.ActivateAndServe() }()
	<-up
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return conn.LocalAddr().String()
}

// said runs a command line and returns its exit code and what it printed.
func said(t *testing.T, args ...string) (code int, out []byte) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdout
	os.Stdout = w
	all := make(chan []byte, 1)
	go func() {
		text, _ := io.ReadAll(r)
		all <- text
	}()
	code = run(args)
	os.Stdout = before
	w.Close()
	return code, <-all
}

// nsid answers with a server identifier.
func nsid(q *dns.Msg, hex string) *dns.Msg {
	m := new(dns.Msg).SetReply(q)
	if q.IsEdns0() != nil {
		m.SetEdns0(1232, false)
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_NSID{Code: dns.EDNS0NSID, Nsid: hex}}
	}
	return m
}

// text answers a name with a text, and everything else with a code.
func text(q *dns.Msg, name, value string, otherwise int) *dns.Msg {
	if q.Question[0].Name != name {
		return new(dns.Msg).SetRcode(q, otherwise)
	}
	m := new(dns.Msg).SetReply(q)
	m.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: q.Question[0].Qclass}, Txt: []string{value}}}
	return m
}

// TestWhich asks servers of every kind.
func TestWhich(t *testing.T) {
	brief := []string{"--timeout", "200ms"}
	for _, tt := range []struct {
		name   string
		handle func(n int, q *dns.Msg) *dns.Msg
		args   []string
		code   int
		nodes  map[string]string // name: what it is known by
	}{
		{"NSID", func(_ int, q *dns.Msg) *dns.Msg { return nsid(q, "6e31") }, nil, exitOK, map[string]string{"n1": "NSID"}},
		{"NSID in hex", func(_ int, q *dns.Msg) *dns.Msg { return nsid(q, "00ff") }, nil, exitOK, map[string]string{"0x00ff": "NSID"}},
		{"no EDNS", func(_ int, q *dns.Msg) *dns.Msg {
			if q.IsEdns0() != nil {
				return new(dns.Msg).SetRcode(q, dns.RcodeFormatError)
			}
			return text(q, "id.server.", "n1", dns.RcodeRefused)
		}, nil, exitOK, map[string]string{"n1": "id.server"}},
		{"a name", func(_ int, q *dns.Msg) *dns.Msg { return text(q, "who.lan.", "n1", dns.RcodeNameError) },
			[]string{"--name", "who.lan"}, exitOK, map[string]string{"n1": "who.lan TXT"}},
		{"two nodes, one without a name", func(n int, q *dns.Msg) *dns.Msg {
			return text(q, []string{"who.lan.", ""}[n%2], "n1", dns.RcodeNameError)
		}, []string{"--name", "who.lan", "--rate", "50"}, exitSomeUnknown, map[string]string{"n1": "who.lan TXT"}},
		{"no identity", func(_ int, q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeRefused) },
			nil, exitSomeUnknown, map[string]string{}},
		{"now and then silent", func(n int, q *dns.Msg) *dns.Msg {
			if n%3 == 0 {
				return nil
			}
			return nsid(q, "6e31")
		}, brief, exitSomeUnknown, map[string]string{"n1": "NSID"}},
		{"silent", func(int, *dns.Msg) *dns.Msg { return nil }, brief, exitNoAnswer, map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := []string{"which", nameserver(t, tt.handle), "--json", "-n", "20", "--rate", "500", "--chaos-rate", "500", "--timeout", "5s"}
			code, out := said(t, append(args, tt.args...)...)
			var r catchment.Report
			if err := json.Unmarshal(out, &r); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			nodes := map[string]string{}
			for _, n := range r.Nodes {
				nodes[n.Name] = n.By
			}
			if d := cmp.Diff(tt.nodes, nodes); d != "" || code != tt.code {
				t.Errorf("exit code %d, want %d; unexpected nodes (-want +got):\n%s\n%s", code, tt.code, d, out)
			}
		})
	}
}

// TestWhichUsage refuses what cannot be asked.
func TestWhichUsage(t *testing.T) {
	for _, tt := range []struct {
		args string
		want int
	}{
		{"", exitConfig},
		{"192.0.2.1 192.0.2.2", exitConfig},
		{"dns.example", exitConfig},
		{"192.0.2.256", exitConfig},
		{"192.0.2.1:0", exitConfig},
		{"192.0.2.1:70000", exitConfig},
		{"[2001:db8::1", exitConfig},
		{"0.0.0.0", exitConfig},
		{"tls://192.0.2.1", exitConfig},
		{"192.0.2.1 -n 0", exitConfig},
		{"192.0.2.1 -n many", exitConfig},
		{"192.0.2.1 -n 10001", exitConfig},
		{"192.0.2.1 --rate 0", exitConfig},
		{"192.0.2.1 --chaos-rate -1", exitConfig},
		{"192.0.2.1 --timeout 5", exitConfig},
		{"192.0.2.1 --timeout 1m", exitConfig},
		{"192.0.2.1 --source here", exitConfig},
		{"192.0.2.1 --source ::1", exitConfig},
		{"192.0.2.1 --type A", exitConfig},
		{"192.0.2.1 --name who.lan --type AXFR", exitConfig},
		{"192.0.2.1 --name a..b", exitConfig},
		{"fe80::1", exitConfig},
		{"192.0.2.1 --name a\\ -n 1", exitConfig},
		{"192.0.2.1 --source 192.0.2.77", exitBox},
		{"fe80::1%nowhere", exitBox},
	} {
		if got := run(strings.Fields("which " + tt.args)); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.args, got, tt.want)
		}
	}
}

// TestWhichText reads what people read.
func TestWhichText(t *testing.T) {
	node := func(name string, n int, of float64) catchment.Node {
		return catchment.Node{Name: name, By: "NSID", Answers: n, Share: float64(n) / of, MedianMS: 0.42}
	}
	for _, tt := range []struct {
		name string
		r    catchment.Report
		want string
	}{
		{"two nodes and losses", catchment.Report{Asked: 200, Nodes: []catchment.Node{node("n1", 100, 190), node("n2", 80, 190)},
			Unidentified: catchment.Rest{Count: 10, Reasons: map[string]int{"NSID: REFUSED": 10}},
			Unanswered:   catchment.Rest{Count: 10, Reasons: map[string]int{"timeout": 7, "connection refused": 3}},
			Repeated:     20, Moved: 9},
			"node       answers  share   median  known by\n" +
				"n1         100      52.6 %  0.4 ms  NSID\n" +
				"n2         80       42.1 %  0.4 ms  NSID\n" +
				"(unknown)  10       5.3 %           NSID: REFUSED\n" +
				"10 of 200 source ports got no answer: 7 timeout; 3 connection refused\n" +
				"Unknown are answers that do not say which node they are from. Give each node an identity " +
				"(unbound: nsid, BIND: server-id), or a name that it answers with a value of its own, for --name.\n" +
				"20 source ports were asked twice; 9 of them met two nodes.\n" +
				"Routes changed just then, or packets are balanced one by one, which breaks TCP, or one node is several servers.\n"},
		{"two nodes", catchment.Report{Asked: 200, Nodes: []catchment.Node{node("n1", 105, 200), node("n2", 95, 200)}},
			"node  answers  share   median  known by\n" +
				"n1    105      52.5 %  0.4 ms  NSID\n" +
				"n2    95       47.5 %  0.4 ms  NSID\n" +
				"Even shares of 2 nodes are 50.0 % each; chance alone moves one by up to 7.1 points (95 of 100 times).\n"},
		{"one node", catchment.Report{Asked: 5, Nodes: []catchment.Node{node("n1", 5, 5)}, Ended: catchment.Interrupted},
			"node  answers  share    median  known by\n" +
				"n1    5        100.0 %  0.4 ms  NSID\n" +
				"One node: no other serves this client, or the routers choose by the addresses, not by the ports.\n" +
				"Ended after 5 source ports: interrupted.\n"},
		{"nobody", catchment.Report{Asked: 10, Unanswered: catchment.Rest{Count: 10, Reasons: map[string]int{"timeout": 10}}},
			"10 of 10 source ports got no answer: timeout\n"},
	} {
		var out bytes.Buffer
		if err := printCatchment(&out, tt.r); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, out.String()); d != "" {
			t.Errorf("%s: unexpected text (-want +got):\n%s", tt.name, d)
		}
	}
}
