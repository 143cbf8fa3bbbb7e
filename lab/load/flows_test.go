package load

import (
	"bytes"
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"recuse/lab/load/stub"
)

// counted runs questions, at 500 a second if c does not say, against a scripted
// server.
func counted(t *testing.T, s *server, questions int, c Config) []Record {
	t.Helper()
	c.Servers = one(s.plain)
	if c.Transport == DoT {
		c.Servers = one(s.secure)
	}
	c.Rate = cmp.Or(c.Rate, 500)
	c.Duration = intended(int64(questions), c.Rate)
	if c.Mix == nil {
		c.Mix = lan
	}
	records, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != questions {
		t.Fatalf("%d records, want %d", len(records), questions)
	}
	return records
}

// TestFlows shows how many ports and connections a transport uses, and that
// records tell the ports.
func TestFlows(t *testing.T) {
	const questions, clients = 100, 4
	tests := []struct {
		transport          Transport
		least, most, conns int // ports that the server sees, connections
	}{
		{UDP, 95, 100, 0}, // the kernel may choose a port twice
		{UDPOnePort, clients, clients, 0},
		{TCP, 95, 100, 100},
		{TCPKept, clients, clients, clients},
		{DoT, clients, clients, clients},
	}
	for _, tt := range tests {
		t.Run(string(tt.transport), func(t *testing.T) {
			s := serve(t, well("n1"))
			records := counted(t, s, questions, Config{Transport: tt.transport, Clients: make([]Network, clients)})
			told := map[string]bool{}
			for _, r := range records {
				if r.Outcome != Answered || r.Node != "n1" {
					t.Errorf("record %+v, want it answered", r)
				}
				told[fmt.Sprintf("127.0.0.1:%d", r.Port)] = true
			}
			if n := s.ports(); n < tt.least || n > tt.most || n != len(told) {
				t.Errorf("%d ports seen, %d told; want %d to %d", n, len(told), tt.least, tt.most)
			}
			if s.connections != tt.conns {
				t.Errorf("%d connections, want %d", s.connections, tt.conns)
			}
			for _, q := range s.seen {
				if !told[q.from] {
					t.Errorf("no record tells of %s", q.from)
				}
			}
		})
	}
}

// TestSourceAddresses shows that every client asks from its own address, over
// every transport.
func TestSourceAddresses(t *testing.T) {
	clients := []Network{
		{Local: []netip.Addr{netip.MustParseAddr("::1"), netip.MustParseAddr("127.0.0.11")}},
		{Local: []netip.Addr{netip.MustParseAddr("127.0.0.12")}},
	}
	for _, transport := range Transports() {
		t.Run(string(transport), func(t *testing.T) {
			s := serve(t, func(q asked) act { return act{node: q.from[:strings.LastIndex(q.from, ":")]} })
			for _, r := range counted(t, s, 10, Config{Transport: transport, Clients: clients}) {
				if want := fmt.Sprintf("127.0.0.1%d", r.Client+1); r.Node != want {
					t.Errorf("client %d asked from %q, want %s: %+v", r.Client, r.Node, want, r)
				}
			}
		})
	}
}

// TestIPv6 shows that UDP and TCP work over IPv6 as well, ports used again.
func TestIPv6(t *testing.T) {
	s := serveAt(t, "[::1]:0", well("n1"))
	for _, transport := range []Transport{UDP, UDPOnePort, TCP} {
		for _, r := range counted(t, s, 20, Config{Transport: transport}) {
			if r.Outcome != Answered || r.Server != "::1" || r.Port == 0 {
				t.Errorf("%s: record %+v, want it answered by ::1", transport, r)
			}
		}
	}
}

// TestFiguresOfScript runs against servers that do known things to known
// questions: the figures must be exactly that.
func TestFiguresOfScript(t *testing.T) {
	third := func(q asked) act {
		n := numberOf(q)
		a := act{node: fmt.Sprintf("n%d", n%3+1)}
		switch {
		case n%3 == 2:
			a.rcode = dns.RcodeServerFailure
		case n%10 == 9:
			a.drop = true
		case n%10 == 4:
			a.delay = 1200 * time.Millisecond
		}
		return a
	}
	for _, transport := range Transports() {
		t.Run(string(transport), func(t *testing.T) {
			s := serve(t, third)
			f := Summarize(counted(t, s, 60, Config{Transport: transport, Stub: stub.None(2 * time.Second), Mix: numbered(60)}))
			want := Figures{Asked: 60, Lost: 4, Bad: 20, Stalled: 4, Nodes: map[string]int{"n1": 18, "n2": 18, "n3": 20}}
			got := Figures{Asked: f.Asked, Lost: f.Lost, Bad: f.Bad, Stalled: f.Stalled, Nodes: f.Nodes}
			if d := gocmp.Diff(want, got); d != "" {
				t.Errorf("unexpected figures (-want +got):\n%s", d)
			}
			if f.Max != Infinite || f.P50 >= time.Second || f.P95 != Infinite {
				t.Errorf("p50 %s, p95 %s, max %s", f.P50, f.P95, f.Max)
			}
			if f.Outage < 2*time.Second || f.Outage > 3*time.Second {
				t.Errorf("outage %s, want some more than the 2 s that a lost question takes", f.Outage)
			}
		})
	}
}

// numbered is a mix of names that tell which question of a client it is.
func numbered(n int) Mix {
	var m Mix
	for i := range n {
		m = append(m, fmt.Sprintf("q%d.lan.", i))
	}
	return m
}

// numberOf is a question's number by its name.
func numberOf(q asked) int {
	var n int
	if _, err := fmt.Sscanf(q.msg.Question[0].Name, "q%d.", &n); err != nil {
		return -1
	}
	return n
}

// TestResets shows that a connection that breaks is counted once, however many
// questions were on it, and that the next question has a new one.
func TestResets(t *testing.T) {
	for _, transport := range []Transport{TCP, TCPKept, DoT} {
		t.Run(string(transport), func(t *testing.T) {
			// Questions 3 to 5 hang, and 6 breaks the connection.
			s := serve(t, func(q asked) act {
				n := numberOf(q)
				return act{node: "n1", drop: n >= 3 && n < 6, reset: n == 6}
			})
			records := counted(t, s, 50, Config{Transport: transport, Stub: stub.None(time.Second), Mix: numbered(50), Rate: 40})
			f := Summarize(records)
			if f.Resets != 1 || records[6].Outcome != Reset || !strings.Contains(records[6].Error, "connection") {
				t.Errorf("resets %d, the one that broke it: %+v", f.Resets, records[6])
			}
			outcome := Reset
			if transport == TCP {
				outcome = Timeout // their connections were not the one
			}
			// More than these may have been sent before word of the reset came.
			for i, r := range records {
				switch {
				case i < 3 || i > 6 && (transport == TCP || i >= 6+f.Lost-3):
					if r.Lost() {
						t.Errorf("record %+v, want it answered", r)
					}
				case i != 6 && r.Outcome != outcome:
					t.Errorf("record %+v, want its outcome %s", r, outcome)
				}
			}
			if last := records[len(records)-1]; f.Lost < 4 || last.Lost() || transport == TCP && f.Lost != 4 {
				t.Errorf("lost %d, the last one %+v", f.Lost, last)
			}
		})
	}
}

// TestHangUp shows that a server may close what is idle, which is no reset, and
// that one that closes under a question is.
func TestHangUp(t *testing.T) {
	s := serve(t, func(q asked) act { return act{node: "n1", hangUp: numberOf(q) == 5} })
	f := Summarize(counted(t, s, 50, Config{Transport: TCPKept, Mix: numbered(50), Rate: 40}))
	if f.Resets != 1 || f.Lost < 1 || f.Lost > 40 {
		t.Errorf("closed under a question: resets %d, lost %d, want 1 and few", f.Resets, f.Lost)
	}
	idle := serve(t, well("n1"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 { // while nothing is under way, for the most part
			<-time.After(60 * time.Millisecond)
			idle.hangUp()
		}
	}()
	records, err := Run(t.Context(), Config{Servers: one(idle.plain), Rate: 5, Duration: 2 * time.Second, Mix: lan, Transport: TCPKept})
	<-done
	if err != nil {
		t.Fatal(err)
	}
	if f := Summarize(records); f.Resets != 0 || f.Lost != 0 || idle.connections < 2 {
		t.Errorf("closed while idle: resets %d, lost %d, connections %d", f.Resets, f.Lost, idle.connections)
	}
}

// TestIdleReset shows that a reset which came while nothing was asked is told by
// the next question.
func TestIdleReset(t *testing.T) {
	s := serve(t, well("n1"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-time.After(250 * time.Millisecond)
		s.resetAll()
	}()
	records, err := Run(t.Context(), Config{Servers: one(s.plain), Rate: 2, Duration: 2 * time.Second, Mix: lan, Transport: TCPKept})
	<-done
	if err != nil {
		t.Fatal(err)
	}
	if f := Summarize(records); f.Resets != 1 || f.Lost != 0 || records[1].Resets != 1 {
		t.Errorf("resets %d, at the second question %d, lost %d", f.Resets, records[1].Resets, f.Lost)
	}
}

// TestSilentConnection shows that a client does not go on with a connection that
// left it without an answer, and that this is no reset.
func TestSilentConnection(t *testing.T) {
	var first string
	s := serve(t, func(q asked) act {
		if first == "" {
			first = q.from
		}
		return act{node: "n1", drop: q.from == first}
	})
	records, err := Run(t.Context(), Config{Servers: one(s.plain), Rate: 5, Duration: 2 * time.Second, Mix: lan,
		Transport: TCPKept, Stub: stub.None(300 * time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	f := Summarize(records)
	if f.Resets != 0 || s.connections != 2 || records[9].Lost() || !records[0].Lost() || f.Lost > 3 {
		t.Errorf("resets %d, connections %d, lost %d", f.Resets, s.connections, f.Lost)
	}
}

// TestRecordsAsFile shows that what a run returns is what it tells, and what the
// file of it says: the same figures come of both.
func TestRecordsAsFile(t *testing.T) {
	s := serve(t, func(q asked) act { return act{node: "n1", drop: q.n%7 == 3, truncated: q.n%5 == 1} })
	var file bytes.Buffer
	w := NewWriter(&file)
	want := counted(t, s, 50, Config{Record: w.Write, Clients: make([]Network, 3), Mix: Household(), Stub: stub.None(300 * time.Millisecond)})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCSV(&file)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("unexpected records (-returned +file):\n%s", d)
	}
	if d := gocmp.Diff(Summarize(want), Summarize(got)); d != "" {
		t.Errorf("unexpected figures (-returned +file):\n%s", d)
	}
}

// TestTwoRuns shows that runs in one process do not mix.
func TestTwoRuns(t *testing.T) {
	first, second := serve(t, well("n1")), serve(t, well("n2"))
	done := make(chan Figures, 1)
	go func() {
		records, err := Run(t.Context(), Config{Servers: one(first.plain), Rate: 500, Duration: 400 * time.Millisecond,
			Mix: lan, Transport: TCPKept})
		if err != nil {
			t.Error(err)
		}
		done <- Summarize(records)
	}()
	b := Summarize(counted(t, second, 200, Config{}))
	a := <-done
	want := []map[string]int{{"n1": 200}, {"n2": 200}}
	if d := gocmp.Diff(want, []map[string]int{a.Nodes, b.Nodes}); d != "" {
		t.Errorf("unexpected answers by node (-want +got):\n%s", d)
	}
}
