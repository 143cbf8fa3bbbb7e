package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recuse/agent/config"
	"recuse/bgp"
	"recuse/netlinkx"
	"recuse/probe"
)

// The addresses of the service in these tests.
var (
	addr4 = netip.MustParsePrefix("192.0.2.53/32")
	addr6 = netip.MustParsePrefix("2001:db8:9::53/128")
)

// world is a loop in a bubble with a link, a router and a resolver that hold
// state, and the diary of all that was done to them.
type world struct {
	t     *testing.T
	loop  *loop
	svc   *service
	logs  *bytes.Buffer
	start time.Time
	end   context.CancelFunc

	mu      sync.Mutex
	diary   []string
	link    netlinkx.State
	broken  error // of the next link writes
	foreign error // of looks at the link
	routes  []bgp.Route
	setErr  error
	others  []bgp.Seen // what the router shows
	linksC  chan struct{}
	answer  map[string]probe.Result // by check: "main", or an address
}

// newWorld makes a world at rest: nothing runs before begin.
func newWorld(t *testing.T, change func(*config.Service)) *world {
	w := &world{t: t, logs: &bytes.Buffer{}, start: time.Now(),
		linksC: make(chan struct{}, 1), answer: map[string]probe.Result{}}
	conf := config.Service{Name: "dns",
		Addresses: []netip.Prefix{addr4, addr6},
		Link: config.Link{Name: "anycast0", Kind: config.KindDummy,
			WhenOut: config.WhenOutDown},
		Settle: 200 * time.Millisecond, Drain: time.Second,
		DrainTimeout: 10 * time.Second, YieldWait: 3 * time.Second,
		Hold: config.Hold{Min: 5 * time.Second, Max: 5 * time.Minute},
		On: config.On{Dead: config.Withdraw, Sick: config.Yield,
			Slow: config.Yield}}
	if change != nil {
		change(&conf)
	}
	log := slog.New(slog.NewJSONHandler(w.logs, nil))
	w.loop = newLoop(log, &slog.LevelVar{},
		&config.Config{Services: []config.Service{conf}},
		About{Node: "n1", LoadedAt: w.start})
	w.loop.links, w.loop.speaker = w.linksC, w
	w.svc = &service{conf: conf, link: w, dirty: true,
		rules: rulesOf(conf),
		paths: map[netip.Addr]*oneAddr{},
		state: State{Phase: Down, Since: w.start},
		path: func(a netip.Addr, f func(probe.Report)) *probe.Runner {
			return probe.NewRunner(testCheck(a.String()), w.prober(a.String()),
				nil, f)
		}}
	w.loop.services = []*service{w.svc}
	for _, who := range []string{"main", addr4.Addr().String(),
		addr6.Addr().String()} {
		w.say(who, probe.Passed)
	}
	return w
}

// testCheck has the design's defaults.
func testCheck(name string) probe.Check {
	return probe.Check{Name: name, Interval: time.Second,
		Timeout: 500 * time.Millisecond, FastInterval: 50 * time.Millisecond,
		Rules: probe.Rules{Fall: 3, Rise: 5}}
}

// begin starts the loop and the main check.
func (w *world) begin() {
	ctx, end := context.WithCancel(context.Background())
	w.end = end
	c := &check{name: "local-name", prime: true}
	c.runner = probe.NewRunner(testCheck("local-name"), w.prober("main"), nil,
		func(r probe.Report) { w.loop.send(reportEvent{w.svc, c, r}) })
	w.svc.checks = []*check{c}
	go w.loop.run(ctx)
}

// finish ends everything, so that the bubble can close.
func (w *world) finish() {
	w.end()
	synctest.Wait()
}

// prober answers as it was told by say.
func (w *world) prober(who string) probe.Prober { return prober{w, who} }

type prober struct {
	w   *world
	who string
}

// Probe answers at once, or waits for the deadline to be silent.
func (p prober) Probe(ctx context.Context) probe.Result {
	r := probe.Result{Sent: time.Now()}
	p.w.mu.Lock()
	said := p.w.answer[p.who]
	p.w.mu.Unlock()
	r.Cause, r.Outcome, r.Alive = said.Cause, said.Outcome, said.Alive
	if r.Cause == probe.Silent {
		<-ctx.Done()
	}
	r.Done = time.Now()
	return r
}

// say sets what a prober answers.
func (w *world) say(who string, c probe.Cause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer[who] = probe.Result{Cause: c, Outcome: c.String(),
		Alive: c == probe.Passed || c == probe.Wrong}
}

// note writes into the diary, with the time since the start.
func (w *world) note(format string, args ...any) {
	w.diary = append(w.diary, fmt.Sprintf("%s %s",
		time.Since(w.start).Round(time.Millisecond),
		fmt.Sprintf(format, args...)))
}

// read takes the diary.
func (w *world) read() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.Join(w.diary, "\n")
	w.diary = nil
	return text
}

// Observe, Raise and Lower are the link's.
func (w *world) Observe() (netlinkx.State, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.link
	s.Present = slices.Clone(s.Present)
	return s, w.foreign
}

// Ensure makes the link.
func (w *world) Ensure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.link.Exists = true
	return nil
}

// Raise makes the link, its addresses, and sets it up.
func (w *world) Raise() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		w.note("raise fails")
		return w.broken
	}
	w.note("raise")
	w.link = netlinkx.State{Exists: true, Up: true,
		Present: slices.Clone(w.svc.conf.Addresses)}
	return nil
}

// Lower sets the link down, which takes IPv6 addresses away.
func (w *world) Lower() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("lower")
	w.setDown()
	return nil
}

// SetAddresses and Remove are for reloads.
func (w *world) SetAddresses(list []netip.Prefix) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("addresses %v", list)
	w.link.Present = slices.DeleteFunc(w.link.Present, func(p netip.Prefix) bool {
		return !slices.Contains(list, p)
	})
	return nil
}

// Remove deletes the link.
func (w *world) Remove() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("remove")
	w.link = netlinkx.State{}
	return nil
}

// Release gives up what keeps others from the link.
func (w *world) Release() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("release")
	return nil
}

// setDown does what the kernel does.
func (w *world) setDown() {
	w.link.Up = false
	w.link.Present = slices.DeleteFunc(w.link.Present,
		func(p netip.Prefix) bool { return p.Addr().Is6() })
}

// byHand changes the link as an operator would.
func (w *world) byHand(what string, f func()) {
	w.mu.Lock()
	w.note("by hand: %s", what)
	f()
	w.mu.Unlock()
	w.linksC <- struct{}{}
	synctest.Wait()
}

// shows sets whether the router shows another node, fully announced; nil
// stands for a router that has never shown a mark.
func (w *world) shows(others bool) {
	w.mu.Lock()
	w.others = []bgp.Seen{}
	if others {
		for _, p := range []netip.Prefix{addr4, addr6} {
			w.others = append(w.others, bgp.Seen{Prefix: p,
				Node: netip.MustParseAddr("198.51.100.12")})
		}
	}
	w.mu.Unlock()
	w.loop.peerChanged()
	synctest.Wait()
}

// Set and Peers are the speaker's.
func (w *world) Set(routes []bgp.Route) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.setErr != nil {
		w.note("set fails")
		return w.setErr
	}
	w.routes = slices.Clone(routes)
	w.note("routes %s", describe(routes))
	return nil
}

// Update takes a changed BGP configuration.
func (w *world) Update(c bgp.Config) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("bgp update: communities %v", c.Communities)
	return w.setErr
}

// Peers is one router that has every route.
func (w *world) Peers() []bgp.PeerState {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := bgp.PeerState{Address: netip.MustParseAddr("198.51.100.1"),
		ASN: 65000, State: "ESTABLISHED", Seen: w.others,
		Marked: w.others != nil, EndOfRIB: w.start}
	for _, r := range w.routes {
		p.Sent = append(p.Sent, r.Prefix)
	}
	return []bgp.PeerState{p}
}

// describe renders routes.
func describe(routes []bgp.Route) string {
	var words []string
	for _, r := range routes {
		word := r.Prefix.String()
		if r.Depreferred {
			word += " (depreferred)"
		}
		words = append(words, word)
	}
	return "[" + strings.Join(words, " ") + "]"
}

var errTest = errors.New("broken for the test")

// prefixOf parses a prefix.
func prefixOf(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// prefix shortens what tables are full of.
type prefix = netip.Prefix

// inLoop runs f where the state of a service may be touched.
func (w *world) inLoop(f func()) {
	w.t.Helper()
	if err := w.loop.call(context.Background(), f); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// explain is the reason in status when no peer has a route.
func (w *world) explain() (why string) {
	w.t.Helper()
	w.inLoop(func() { why = w.svc.explain(nil) })
	return why
}

// asked is how many addresses the service path asks on.
func (w *world) asked() (n int) {
	w.t.Helper()
	w.inLoop(func() { n = len(w.svc.paths) })
	return n
}
