package report

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// sampleStart is when the first sample run began.
var sampleStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// sample makes runs that look like real ones: three nodes answer, n1 breaks at
// ten seconds and is back at thirty.
type sample struct {
	scenario, title string
	setup           result.Setup
	started         time.Time
	rate            int           // questions a second
	silent          time.Duration // how long n1's third is lost after the fault
	slow            time.Duration // how late n1 answers instead of not at all
	bad             bool          // n1 answers SERVFAIL instead
	left            time.Duration // when n1 leaves the routing, after the fault
	clients         int
	seed            uint64
}

// The sample's phases.
const (
	sampleFault  = 10 * time.Second
	sampleRevert = 30 * time.Second
	sampleEnd    = 40 * time.Second
)

// anycast is the usual setup.
func anycast() result.Setup {
	return result.Setup{Design: "anycast", Agent: "recuse", Router: "frr", Layout: "routed", LastResort: "none",
		Backend: "namespaces", Stub: "none", Rate: 20, Scale: 1}
}

// frozen is a node that falls silent, at the seed's rate.
func frozen() sample {
	return sample{scenario: "node-frozen", title: "one node falls silent for 20 s: no process runs, no packet comes or goes",
		setup: anycast(), started: sampleStart, rate: 20, silent: 860 * time.Millisecond, left: 900 * time.Millisecond, clients: 6, seed: 1}
}

// at is a moment of the run.
func (s sample) at(d time.Duration) time.Time { return s.started.Add(d) }

// records are the questions, of which n1's third suffers after the fault.
func (s sample) records() []load.Record {
	rng := rand.New(rand.NewPCG(s.seed, 7))
	var all []load.Record
	n := int(sampleEnd.Seconds()) * s.rate
	for i := range n {
		since := time.Duration(i) * time.Second / time.Duration(s.rate)
		r := load.Record{Seq: i, Client: rng.IntN(max(s.clients, 1)), Intended: s.at(since),
			Question: load.Question{Name: "www.test.", Type: 1}}
		r.Sent = r.Intended.Add(time.Duration(30+rng.IntN(90)) * time.Microsecond)
		r.Outcome, r.Attempts, r.Via, r.Server = load.Answered, 1, load.ViaUDP, "10.9.9.53:53"
		r.Port = 32768 + rng.IntN(28000)
		r.Ended = r.Sent.Add(time.Duration(300+rng.ExpFloat64()*400) * time.Microsecond)
		s.serve(&r, since, rng)
		all = append(all, r)
	}
	return all
}

// serve says which node answers, and how.
func (s sample) serve(r *load.Record, since time.Duration, rng *rand.Rand) {
	out := since >= sampleFault+s.left && since < sampleRevert+7*time.Second
	r.Node = fmt.Sprintf("n%d", 1+rng.IntN(3))
	if r.Node != "n1" || since < sampleFault {
		return
	}
	switch {
	case out:
		r.Node = fmt.Sprintf("n%d", 2+rng.IntN(2))
	case since > sampleFault+max(s.silent, s.left):
	case s.slow > 0:
		r.Ended = r.Ended.Add(s.slow)
	case s.bad:
		r.Rcode = 2
	default:
		r.Outcome, r.Node, r.Ended = load.Timeout, "", r.Sent.Add(2*time.Second)
	}
}

// events are what the parties did.
func (s sample) events() []result.Event {
	ev := []result.Event{
		{At: s.at(0), Lane: "router routes", State: "3 next hops", Text: "n1, n2, n3"},
		{At: s.at(sampleFault), Lane: result.LaneLab, Text: "n1 frozen: SIGSTOP of every process, every packet dropped"},
		{At: s.at(sampleFault + s.left), Lane: "router routes", State: "2 next hops", Text: "n2, n3"},
		{At: s.at(sampleFault + s.left - 60*time.Millisecond), Lane: "n1 bfd", State: "DOWN", Text: "detection time expired"},
		{At: s.at(sampleFault + s.left - 50*time.Millisecond), Lane: "n1 bgp", State: "Idle"},
		{At: s.at(sampleRevert), Lane: result.LaneLab, Text: "n1 thawed"},
		{At: s.at(sampleRevert + 50*time.Millisecond), Lane: "n1 checks", State: "unknown", Text: "local-name: self-stall of 20 s"},
		{At: s.at(sampleRevert + 60*time.Millisecond), Lane: "n1 stance", State: "withdrawn", Text: "stall"},
		{At: s.at(sampleRevert + 2100*time.Millisecond), Lane: "n1 bgp", State: "Established"},
		{At: s.at(sampleRevert + 3100*time.Millisecond), Lane: "n1 bfd", State: "UP"},
		{At: s.at(sampleRevert + 5100*time.Millisecond), Lane: "n1 checks", State: "ok"},
		{At: s.at(sampleRevert + 5200*time.Millisecond), Lane: "n1 stance", State: "depreferred", Text: "hold for 5 s"},
		{At: s.at(sampleRevert + 7*time.Second), Lane: "n1 stance", State: "announced"},
		{At: s.at(sampleRevert + 7061*time.Millisecond), Lane: "router routes", State: "3 next hops", Text: "n1, n2, n3"},
		{At: s.at(sampleRevert + 3*time.Second), Lane: "n2 checks", Text: "one probe late: 61 ms"},
	}
	for _, n := range []string{"n1", "n2", "n3"} {
		for lane, state := range map[string]string{"checks": "ok", "stance": "announced", "bgp": "Established", "bfd": "UP"} {
			ev = append(ev, result.Event{At: s.at(0), Lane: n + " " + lane, State: state})
		}
	}
	return ev
}

// run is the whole run.
func (s sample) run() (result.Run, []load.Record) {
	records := s.records()
	phases := []result.Phase{{Name: "calm", From: s.at(0), To: s.at(sampleFault)},
		{Name: "action", From: s.at(sampleFault), To: s.at(sampleFault + 200*time.Millisecond)},
		{Name: "fault", From: s.at(sampleFault + 200*time.Millisecond), To: s.at(sampleRevert)},
		{Name: "revert", From: s.at(sampleRevert), To: s.at(sampleRevert + 200*time.Millisecond)},
		{Name: "after", From: s.at(sampleRevert + 200*time.Millisecond), To: s.at(sampleEnd)}}
	r := result.Run{
		ID: fmt.Sprintf("%s-%s-%d", s.scenario, s.setup.Design, s.seed), Scenario: s.scenario, Title: s.title, Setup: s.setup,
		Started: s.started, Took: sampleEnd + 3*time.Second, Phases: phases,
		Proof: []result.Proof{
			{Claim: "n1 served the client before the fault", Holds: true, Evidence: "71 answers of n1 in the records, 214 packets from its port 53 on its own wire (nftables counter)"},
			{Claim: "n1 fell silent", Holds: true, Evidence: "0 packets from n1 between +0.000 s and +20.000 s; last one 3 ms before (AF_PACKET on the LAN)"},
		},
		Figures: load.Summarize(records), ByPhase: map[string]load.Figures{},
		Notes:    []string{"n1 left the router's kernel after 0.900 s and was back 7.061 s after the thaw"},
		Events:   s.events(),
		Machine:  result.Machine{CPU: "Cortex-A72", Cores: 4, Memory: 4 << 30, Kernel: "Linux 6.12.1 aarch64", System: "Debian GNU/Linux 12", Versions: map[string]string{"recuse": "v0.2.0", "frr": "8.4.4", "unbound": "1.17.1"}},
		Settings: []string{"bgp.peers[0].bfd: {interval: 300ms, multiplier: 3}", "net.ipv4.fib_multipath_hash_policy=1"},
	}
	for _, p := range phases {
		r.ByPhase[p.Name] = load.Summarize(load.Window(records, p.From, p.To))
	}
	return r, records
}

// library is runs with their records, as a directory has them.
type library struct {
	runs    []result.Run
	records map[string][]load.Record
}

// add puts a sample in, changed as a test needs it.
func (l *library) add(s sample, change func(*result.Run)) {
	r, records := s.run()
	r.ID = fmt.Sprintf("%03d-%s", len(l.runs)+1, r.ID)
	if change != nil {
		change(&r)
	}
	if l.records == nil {
		l.records = map[string][]load.Record{}
	}
	l.runs, l.records[r.ID] = append(l.runs, r), records
}

// load is result.Run.Records for the library.
func (l *library) load(r result.Run) ([]load.Record, error) {
	if records, ok := l.records[r.ID]; ok {
		return records, nil
	}
	return nil, fmt.Errorf("failed to read records: %s: is not there", r.ID)
}

// realistic is a library of several scenarios and designs, with a void run and
// one left out.
func realistic() *library {
	var l library
	base, relay := anycast(), anycast()
	base.Design, base.Agent, base.Stub = "baseline", "none", "two-servers"
	relay.Design, relay.Agent = "relay", "none"
	for i := range 3 {
		s := frozen()
		s.seed, s.silent = uint64(i), s.silent+time.Duration(i)*40*time.Millisecond
		l.add(s, nil)
	}
	s := frozen()
	s.setup, s.silent, s.left = base, 19*time.Second, 20*time.Second
	l.add(s, nil)
	s = frozen()
	s.setup, s.silent, s.seed = relay, 2*time.Second, 9
	l.add(s, func(r *result.Run) {
		r.Proof[1].Holds = false
		r.Proof[1].Evidence = "12 packets of n1 after +0.000 s"
		r.Void = "the fault did not take effect"
	})
	s = frozen()
	s.scenario, s.title, s.bad = "no-lan", "one node's resolver loses the local zone", true
	s.silent, s.left = 4*time.Second, 4*time.Second
	l.add(s, nil)
	s = frozen()
	s.scenario, s.title, s.slow, s.left = "slow-1800ms", "one node answers 1.8 s late", 1800*time.Millisecond, 2300*time.Millisecond
	l.add(s, nil)
	l.add(sample{scenario: "node-added-resilient", title: "a node is added, the router's groups are resilient", setup: anycast(), started: sampleStart, rate: 20},
		func(r *result.Run) {
			r.LeftOut = "not possible on this bench: the kernel has no resilient nexthop groups"
		})
	return &l
}

// TestSample: what the other tests look at has what they look for.
func TestSample(t *testing.T) {
	r, records := frozen().run()
	if len(records) != 800 || r.Figures.Lost < 3 || r.Figures.Lost > 12 {
		t.Errorf("unexpected sample: %d records, %d lost", len(records), r.Figures.Lost)
	}
	if got := slices.Sorted(maps.Keys(r.Figures.Nodes)); !slices.Equal(got, []string{"n1", "n2", "n3"}) {
		t.Errorf("unexpected nodes of the sample: %v", got)
	}
}
