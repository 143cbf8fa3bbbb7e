package catchment

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/probe"
	"recuse/probe/dnsx"
)

// question is one that a fake server was asked.
type question struct {
	flow int
	by   string
	at   time.Duration
}

// server is a fake: it answers the flow of a number, from 0, when it is asked
// for the time-th time by an inquiry. It is safe for concurrent use.
type server struct {
	answer func(flow int, by string, time int) dnsx.Answer
	start  time.Time

	mu    sync.Mutex
	flows int
	asked []question
}

// port is one flow to a server.
type port struct {
	server *server
	n      int
	times  map[string]int
}

// open makes the next flow.
func (s *server) open() flow {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flows++
	return &port{server: s, n: s.flows - 1, times: map[string]int{}}
}

// Ask answers as the server does, late if its times say so.
func (p *port) Ask(ctx context.Context, i dnsx.Inquiry) dnsx.Answer {
	s, by := p.server, i.String()
	s.mu.Lock()
	s.asked = append(s.asked, question{p.n, by, time.Since(s.start)})
	s.mu.Unlock()
	p.times[by]++
	a := s.answer(p.n, by, p.times[by])
	if a.Cause == probe.Silent {
		<-ctx.Done()
		return a
	}
	time.Sleep(a.RTT())
	return a
}

// Close does nothing.
func (p *port) Close() {}

// node is the answer of a node after a millisecond, none is one without an
// identity.
func node(name string) dnsx.Answer {
	return dnsx.Answer{Result: probe.Result{Done: time.Time{}.Add(time.Millisecond), Cause: probe.Passed, Outcome: "NOERROR"}, Node: name}
}

// none is an answer without an identity.
func none(rcode string) dnsx.Answer {
	a := node("")
	a.Outcome = rcode
	return a
}

// failed is no answer.
func failed(c probe.Cause, text string) dnsx.Answer {
	return dnsx.Answer{Result: probe.Result{Cause: c, Outcome: text}}
}

// config is a survey as the command's defaults make it.
func config(flows int) Config {
	return Config{
		Server:    dnsx.Server{Net: "udp", Addr: netip.MustParseAddrPort("192.0.2.53:53")},
		Inquiries: dnsx.Inquiries(), Flows: flows, Rate: 10, ChaosRate: 3, Timeout: 2 * time.Second,
	}
}

// run runs a survey in a bubble, and returns the fake and how long it took.
func run(t *testing.T, c Config, answer func(flow int, by string, time int) dnsx.Answer) (r Report, s *server, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s = &server{answer: answer, start: time.Now()}
		r = c.run(t.Context(), s.open)
		took = time.Since(s.start).Round(time.Second)
	})
	return r, s, took
}

// count counts the questions by inquiry.
func (s *server) count() map[string]int {
	n := map[string]int{}
	for _, q := range s.asked {
		n[q.by]++
	}
	return n
}

// busiest is the most questions of class CH, or of all, in any second.
func (s *server) busiest(chaos bool) int {
	most := 0
	for i, a := range s.asked {
		n := 0
		for _, b := range s.asked[i:] {
			if b.at < a.at+time.Second && (!chaos || a.by != "NSID" && b.by != "NSID") {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// TestSurvey proves what is asked of servers that tell themselves in different
// ways, how fast, and what comes of it.
func TestSurvey(t *testing.T) {
	rest := func(n int, why string) Rest {
		if n == 0 {
			return Rest{Reasons: map[string]int{}}
		}
		return Rest{Count: n, Reasons: map[string]int{why: n}}
	}
	one := func(by string, n int) []Node {
		return []Node{{Name: "n1", By: by, Answers: n, Share: 1, MedianMS: 1}}
	}
	const bind = "hostname.bind"
	tests := []struct {
		name   string
		flows  int
		answer func(flow int, by string, time int) dnsx.Answer
		want   Report
		asked  map[string]int
		took   time.Duration
	}{
		{"NSID", 200, func(int, string, int) dnsx.Answer { return node("n1") },
			Report{Asked: 200, Nodes: one("NSID", 200), Repeated: 20}, map[string]int{"NSID": 220}, 22 * time.Second},
		{"the oldest way only", 100, func(_ int, by string, _ int) dnsx.Answer {
			if by == bind {
				return node("n1")
			}
			return none("NOERROR")
		}, Report{Asked: 100, Nodes: one(bind, 100), Repeated: 20},
			map[string]int{"NSID": 10, "id.server": 10, bind: 120}, 43 * time.Second},
		{"in no way", 200, func(_ int, by string, _ int) dnsx.Answer {
			if by == bind {
				return failed(probe.Silent, "timeout")
			}
			return none("REFUSED")
		}, Report{Asked: 10, Nodes: []Node{}, Ended: NoIdentity,
			Unidentified: rest(10, "NSID: REFUSED, id.server: REFUSED, hostname.bind: timeout")},
			map[string]int{"NSID": 10, "id.server": 10, bind: 10}, 9 * time.Second},
		{"silent", 20, func(int, string, int) dnsx.Answer { return failed(probe.Silent, "timeout") },
			Report{Asked: 20, Nodes: []Node{}, Unanswered: rest(20, "timeout")}, map[string]int{"NSID": 20}, 6 * time.Second},
		{"refused", 200, func(int, string, int) dnsx.Answer { return failed(probe.Refused, "connection refused") },
			Report{Asked: 10, Nodes: []Node{}, Unanswered: rest(10, "connection refused"), Ended: Unreachable},
			map[string]int{"NSID": 10}, time.Second},
		{"packet by packet", 5, func(_ int, _ string, time int) dnsx.Answer { return node([]string{"", "n1", "n2"}[time]) },
			Report{Asked: 5, Nodes: one("NSID", 5), Repeated: 5, Moved: 5}, map[string]int{"NSID": 10}, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := config(tt.flows)
			got, s, took := run(t, c, tt.answer)
			tt.want.Server = c.Server.String()
			for _, r := range []*Rest{&tt.want.Unidentified, &tt.want.Unanswered} {
				if r.Reasons == nil {
					*r = rest(0, "")
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("unexpected report (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.asked, s.count()); d != "" {
				t.Errorf("unexpected questions (-want +got):\n%s", d)
			}
			if took != tt.took {
				t.Errorf("took %v, want %v", took, tt.took)
			}
			if a, ch := s.busiest(false), s.busiest(true); a > c.Rate || ch > c.ChaosRate {
				t.Errorf("%d questions in a second, of class CH %d", a, ch)
			}
		})
	}
}

// TestSurveyOfMixedServers has nodes that tell themselves by NSID, by id.server,
// by both, and not at all; the latter appear after the first flows. Each is
// known by one name.
func TestSurveyOfMixedServers(t *testing.T) {
	c := config(100)
	c.Rate, c.ChaosRate = 100, 100
	r, _, _ := run(t, c, func(flow int, by string, _ int) dnsx.Answer {
		kind := flow % 2
		if flow >= 50 {
			kind = flow % 4
		}
		names := []map[string]string{
			{"id.server": "a"},
			{"NSID": "b", "id.server": "b.example"},
			{"hostname.bind": "c"},
			{},
		}
		return node(names[kind][by])
	})
	got := map[string]int{}
	for _, n := range r.Nodes {
		got[n.Name+" by "+n.By] = n.Answers
	}
	got["unknown"] = r.Unidentified.Count
	want := map[string]int{"a by id.server": 37, "b by NSID": 37, "c by hostname.bind": 13, "unknown": 13}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("unexpected nodes (-want +got):\n%s", d)
	}
}

// TestSurveyInterrupted ends at once, and counts what was whole.
func TestSurveyInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5050*time.Millisecond)
		defer cancel()
		start := time.Now()
		s := &server{start: start, answer: func(flow int, _ string, _ int) dnsx.Answer {
			if flow%2 == 0 {
				return failed(probe.Silent, "timeout")
			}
			return node("n1")
		}}
		r := config(200).run(ctx, s.open)
		if d := time.Since(start); d != 5050*time.Millisecond {
			t.Errorf("ended after %v", d)
		}
		if r.Ended != Interrupted || r.Answered() < 10 || r.Unanswered.Count < 5 || r.Asked >= s.flows {
			t.Errorf("of %d flows got %+v", s.flows, r)
		}
	})
}

// TestSpan tells how long surveys take.
func TestSpan(t *testing.T) {
	c, ways := config(200), dnsx.Inquiries()
	overTCP, few := c, config(5)
	overTCP.Server.Net = "tcp"
	for _, tt := range []struct {
		c    Config
		by   dnsx.Inquiry
		want time.Duration
	}{
		{c, ways[0], 22 * time.Second},
		{c, ways[1], 73 * time.Second},
		{overTCP, ways[1], 20 * time.Second},
		{few, ways[0], time.Second},
	} {
		if got := tt.c.Span(tt.by).Truncate(time.Second); got != tt.want {
			t.Errorf("%d flows over %s by %v: %v, want %v", tt.c.Flows, tt.c.Server.Net, tt.by, got, tt.want)
		}
	}
}
