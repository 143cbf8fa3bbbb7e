package agent

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"recuse/agent/control"
	"recuse/bgp"
	"recuse/probe"
)

// About is what status says of the agent itself.
type About struct {
	Node, Version, ConfigPath string
	LoadedAt                  time.Time
	ReloadFailed              bool // the last reload was refused
}

// Status asks the loop what it knows. It fails when the loop does not answer
// before ctx ends.
func (a *Agent) Status(ctx context.Context) (control.Status, error) {
	var st control.Status
	if err := a.loop.call(ctx, func() { st = a.loop.snapshot() }); err != nil {
		return control.Status{}, err // st may yet be written
	}
	st.RouterID = a.routerID()
	return st, nil
}

// snapshot renders the state of everything. It runs in the loop.
func (l *loop) snapshot() control.Status {
	peers := l.speaker.Peers()
	st := control.Status{
		Node:     l.about.Node,
		Version:  l.about.Version,
		Services: make([]control.Service, 0, len(l.services)),
		Peers:    make([]control.Peer, 0, len(peers)),
		Config: control.Config{Path: l.about.ConfigPath,
			LoadedAt: l.about.LoadedAt, LastReloadOK: !l.about.ReloadFailed},
		Alarms: l.alarms.list(),
	}
	for _, s := range l.services {
		st.Services = append(st.Services, s.snapshot(peers))
	}
	for _, p := range peers {
		st.Peers = append(st.Peers, peerSnapshot(p))
	}
	return st
}

// peerSnapshot renders one peer.
func peerSnapshot(p bgp.PeerState) control.Peer {
	out := control.Peer{Address: p.Address.String(), ASN: p.ASN, State: p.State,
		Since: p.Since, Error: p.LastError, Marked: p.Marked,
		Unmarked: p.Unmarked, BFD: bfdSnapshot(p.BFD)}
	if !p.EndOfRIB.IsZero() {
		out.EndOfRIB = &p.EndOfRIB
	}
	return out
}

// bfdSnapshot renders the BFD session beside a peer, if there is one.
func bfdSnapshot(b *bgp.BFDState) *control.BFD {
	if b == nil {
		return nil
	}
	out := &control.BFD{State: b.State, Remote: b.Remote, Since: b.Since,
		DetectMS: ms(b.Detection), IntervalMS: ms(b.Interval),
		RemoteIntervalMS: ms(b.RemoteInterval), Multihop: b.Multihop,
		LocalDiag: b.LocalDiag, RemoteDiag: b.RemoteDiag, Sent: b.Sent,
		Received: b.Received, Discarded: b.Discarded, Withheld: b.Withheld,
		WorstLateMS: ms(b.WorstLate), Scheduling: b.Scheduling,
		Transitions: []control.Transition{}, Error: b.Trouble}
	for _, t := range b.Transitions {
		out.Transitions = append(out.Transitions, control.Transition(t))
	}
	return out
}

// snapshot renders one service.
func (s *service) snapshot(peers []bgp.PeerState) control.Service {
	given := s.given(peers)
	out := control.Service{
		Name:   s.conf.Name,
		Stance: s.visible(given).String(),
		Level:  Combine(s.policy, s.evidence()).Level.String(),
		Admin:  s.adminWord(),
		Phase:  s.state.Phase.String(),
		Reason: s.explain(given),
		Since:  s.state.Since,
		Others: []string{},

		OthersKnown: s.othersNow.Known.String(),
		HoldUntil:   s.holdUntil(time.Now()),
		Link: control.Link{Name: s.conf.Link.Name, Kind: s.conf.Link.Kind,
			Up: s.seen.Up},
		Addresses: make([]control.Address, 0, len(s.conf.Addresses)),
	}
	for _, n := range s.othersNow.Nodes {
		out.Others = append(out.Others, n.String())
	}
	if err := s.alarm(); err != nil {
		out.Link.Error = err.Error()
	}
	for _, p := range s.conf.Addresses {
		out.Addresses = append(out.Addresses, control.Address{
			Prefix: p.String(), Present: s.present(p),
			Announced: s.announces(p, given)})
	}
	for _, c := range s.checks {
		out.Checks = append(out.Checks, c.snapshot())
	}
	if c, ok := s.pathSnapshot(); ok {
		out.Checks = append(out.Checks, c)
	}
	out.Decisions = s.counts()
	return out
}

// counts renders how often each kind of change was made, in a fixed order.
func (s *service) counts() []control.Decision {
	list := []control.Decision{}
	for d, n := range s.decisions {
		list = append(list, control.Decision{To: d.to.String(),
			Reason: d.reason.String(), Count: n})
	}
	slices.SortFunc(list, func(a, b control.Decision) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// given is the set of this service's routes that some established peer has.
func (s *service) given(peers []bgp.PeerState) []bgp.Route {
	return slices.DeleteFunc(s.routes(), func(r bgp.Route) bool {
		for _, p := range peers {
			if slices.Contains(p.Sent, r.Prefix) {
				return false
			}
		}
		return true
	})
}

// visible is the stance as the routers know it: without a peer that has a
// route, nothing is announced.
func (s *service) visible(given []bgp.Route) Stance {
	if len(given) == 0 {
		return Withdrawn
	}
	return s.orders.Stance
}

// announces tells whether a peer has the route that carries an address.
func (s *service) announces(p netip.Prefix, given []bgp.Route) bool {
	return slices.ContainsFunc(given, func(r bgp.Route) bool {
		return r.Prefix == p || r.Prefix.Contains(p.Addr())
	})
}

// adminWord is what operators have decided.
func (s *service) adminWord() string {
	if s.wishes.admin().Drained {
		return "drained"
	}
	return "enabled"
}

// explain says why the service stands where it does, and what it waits for.
func (s *service) explain(given []bgp.Route) string {
	drained := s.wishes.admin().Drained
	switch s.state.Phase {
	case Down:
		return s.explainDown(drained)
	case Raising:
		return s.explainRaising()
	case Held:
		return "the link was set down by hand: set it up again to resume"
	case Serving:
		if len(given) == 0 {
			return "fit, but no established peer has the route"
		}
		return s.because() + s.explainSecond()
	case Draining:
		if drained && s.othersNow.Known != OthersServe {
			return s.because() + "; no other node is seen to serve"
		}
	}
	return s.because()
}

// because is why the phase or the stance began.
func (s *service) because() string {
	return s.state.Reason.String() + colon(s.state.Detail)
}

// explainDown prefers the present word over that of the leaving.
func (s *service) explainDown(drained bool) string {
	switch {
	case drained && s.wishes.file:
		return "drained by " + s.conf.DrainFile + s.alone()
	case drained:
		return "drained by command" + colon(s.wishes.reason) + s.alone()
	case s.state.Reason == Stopping:
		return s.because()
	}
	return Combine(s.policy, s.evidence()).Why
}

// alone warns that nobody serves while this node stays out by wish.
func (s *service) alone() string {
	if s.othersNow.Known == NobodyServes {
		return "; NOBODY SERVES"
	}
	return ""
}

// explainSecond says what a second choice waits for.
func (s *service) explainSecond() string {
	h := s.state.Hold
	switch {
	case s.state.Stance != Depreferred:
		return ""
	case h.Manual:
		return "; second choice until `recuse resume " + s.conf.Name + "`"
	case time.Now().Before(h.Until):
		return "; second choice at least until " +
			h.Until.Format(time.TimeOnly)
	case s.othersNow.Known == OthersUnknown && s.state.Fell:
		return "; stays, since it is not known whether others serve"
	case s.othersNow.Known == NobodyServes:
		return "; stays, since nobody else serves"
	}
	return ""
}

// explainRaising names what is still missing before the announcement.
func (s *service) explainRaising() string {
	if err := s.linkTrouble(); err != nil {
		return err.Error()
	}
	for _, p := range s.conf.Addresses {
		if s.answers(p) {
			continue
		}
		one := s.paths[p.Addr()]
		if one == nil {
			return "waiting for " + p.String() + " on the link"
		}
		if one.last.Result.Outcome == "" {
			return "waiting for an answer on " + p.Addr().String()
		}
		return "no answer on the service address: " + one.last.Result.Outcome
	}
	return s.because()
}

// colon joins a detail, if there is one.
func colon(detail string) string {
	if detail == "" {
		return ""
	}
	return ": " + detail
}

// pathSnapshot shows the address of the service path that is worst off.
func (s *service) pathSnapshot() (control.Check, bool) {
	var worst *oneAddr
	for _, p := range s.conf.Addresses {
		one := s.paths[p.Addr()]
		if one != nil && (worst == nil || one.worse(worst)) {
			worst = one
		}
	}
	if worst == nil {
		return control.Check{}, false
	}
	c := worst.snapshot()
	c.Name = servicePath
	return c, true
}

// worse orders two addresses by level, and by failures within one.
func (o *oneAddr) worse(than *oneAddr) bool {
	a, b := o.last.Verdict, than.last.Verdict
	if a.Level != b.Level {
		return a.Level > b.Level
	}
	return a.Fails > b.Fails
}

// snapshot renders one check.
func (c *check) snapshot() control.Check {
	v, st := c.last.Verdict, c.last.Stats
	out := control.Check{
		Name: c.name, Level: v.Level.String(), Reason: v.Reason,
		Failures: v.Fails, Passes: v.Passes,
		P50MS: ms(st.P50), P95MS: ms(st.P95), P99MS: ms(st.P99),
		Samples: st.N, SlowOverMS: ms(c.last.Over),
	}
	if r := c.last.Result; r != (probe.Result{}) {
		out.Last = &control.Result{At: r.Done, RTTMS: ms(r.RTT()),
			Outcome: r.Outcome}
		if !r.Expires.IsZero() {
			out.Last.Expires = &r.Expires
		}
	}
	return out
}

// ms gives a duration in milliseconds.
func ms(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}
