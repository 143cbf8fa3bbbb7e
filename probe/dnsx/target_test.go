package dnsx

import (
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/probe"
	"recuse/probe/resulttest"
)

// The sources of the table: what asking from each of them comes to.
const (
	answers = "answers"
	silent  = "is silent"
	refused = "is refused"
	absent  = "is absent"
	useless = "gets a synthesized answer"
)

// source returns a prober that stands for asking from one source.
func source(t *testing.T, kind string) *Prober {
	t.Helper()
	c := local(Server{Net: "udp", Addr: loopback.Addr})
	switch kind {
	case answers:
		c.Server = serve(t, "udp", "127.0.0.1", inLan)
	case silent:
		c.Server = serve(t, "udp", "127.0.0.1", func(*dns.Msg) *dns.Msg { return nil })
	case useless:
		c.Server = serve(t, "udp", "127.0.0.1", func(q *dns.Msg) *dns.Msg {
			m := inLan(q).SetEdns0(ednsSize, false)
			m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeSynthesized}}
			return m
		})
	case refused:
		c.Server = udpPort(t, "127.0.0.1:1")
	case absent:
		// A source that nothing can be sent from.
		c.Server = udpPort(t, "127.0.0.1:1")
		c.Local = unassigned
	}
	return prober(t, c)
}

// TestTargetSources proves which source is asked in each of some probes in a
// row, what they come to, and that none waits for more than one deadline.
func TestTargetSources(t *testing.T) {
	tests := []struct {
		name          string
		first, second string
		want          []probe.Cause
		at            int // the source that is kept
	}{
		{"the first works", answers, silent, []probe.Cause{probe.Passed, probe.Passed}, 0},
		{"the second works", silent, answers, []probe.Cause{probe.Silent, probe.Passed, probe.Passed}, 1},
		{"neither works", silent, silent, []probe.Cause{probe.Silent, probe.Silent, probe.Silent}, 1},
		{"nothing leaves from the first", absent, answers, []probe.Cause{probe.Passed, probe.Passed}, 1},
		{"an answer that shows nothing", useless, answers, []probe.Cause{probe.Unmade, probe.Unmade}, 0},
		{"nothing leaves", absent, absent, []probe.Cause{probe.Unmade, probe.Unmade}, 0},
		{"refused, then silent", refused, silent, []probe.Cause{probe.Refused, probe.Refused}, 0},
		{"refused, then absent", refused, absent, []probe.Cause{probe.Refused, probe.Refused}, 0},
		{"refused from both", refused, refused, []probe.Cause{probe.Refused, probe.Refused}, 0},
		{"refused, but not from the second", refused, answers, []probe.Cause{probe.Passed, probe.Passed}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tg := &target{sources: []*Prober{source(t, tt.first), source(t, tt.second)}}
			for i, want := range tt.want {
				begin := time.Now()
				if got := tg.ask(resulttest.Within(t, brief)); got.cause != want {
					t.Fatalf("probe %d: got %+v, want %v", i, got, want)
				}
				if took := time.Since(begin); took > 10*brief {
					t.Errorf("probe %d took %v", i, took)
				}
			}
			if tg.at != tt.at {
				t.Errorf("source %d is kept, want %d", tg.at, tt.at)
			}
		})
	}
}

// TestTargetLearn proves that a lost packet does not give up a source that
// works, and that a refusal from it is not doubted.
func TestTargetLearn(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	passed, lost := finding{cause: probe.Passed}, finding{cause: probe.Silent}
	tg := &target{sources: make([]*Prober, 2)}
	tg.learn(1, at(10), passed)
	tg.learn(1, at(9), lost) // It left before one that passed.
	if at, known := tg.source(); at != 1 || !known {
		t.Errorf("source %d, known %v after a lost packet", at, known)
	}
	tg.learn(0, at(8), passed) // An older pass from elsewhere.
	tg.learn(1, at(11), finding{cause: probe.Refused})
	tg.learn(1, at(12), finding{cause: probe.Wrong, alive: true})
	tg.learn(0, at(12), lost) // Of the source that is not used.
	if at, known := tg.source(); at != 1 || !known {
		t.Errorf("source %d, known %v after a refusal", at, known)
	}
	tg.learn(1, at(13), lost)
	if at, known := tg.source(); at != 0 || known {
		t.Errorf("source %d, known %v after silence", at, known)
	}
}

// TestTargetKnownRefused proves that a refusal from a source that has worked
// is told without asking from the other one.
func TestTargetKnownRefused(t *testing.T) {
	tg := &target{sources: []*Prober{source(t, refused), source(t, answers)}}
	tg.learn(0, time.Now(), finding{cause: probe.Passed})
	if got := tg.ask(resulttest.Within(t, patience)); got.cause != probe.Refused {
		t.Errorf("got %+v, want a refusal", got)
	}
}
