package agent

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"recuse/agent/control"
)

// scrapeWithin bounds a scrape: an agent whose loop is stuck must be seen to be
// stuck.
const scrapeWithin = 2 * time.Second

// metric declares one metric; the labels are those of its values, in order.
func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("recuse_"+name, help, labels, nil)
}

// The metrics. Words, such as a stance, are labels of a metric that is 1 for
// the word in force and 0 for the others, so that a query can sum over nodes.
var (
	mUp = metric("up",
		"Whether the deciding goroutine answered this scrape.")
	mInfo = metric("build_info",
		"The running version; always 1.", "version", "node")
	mStance = metric("service_stance",
		"What the routers hear of a service.", "service", "stance")
	mLevel = metric("service_level",
		"What the checks of a service say together.", "service", "level")
	mDecisions = metric("service_decisions_total",
		"Changes of a service's phase or stance, by reason.", "service",
		"to", "reason")
	mDrained = metric("service_drained",
		"Whether an operator keeps a service out.", "service")
	mHold = metric("service_hold_seconds",
		"For how long a service is second choice yet.", "service")
	mOthers = metric("service_others",
		"How many other nodes are seen to serve fully.", "service")
	mNobody = metric("service_nobody_else_serves",
		"Whether the routers show that no other node serves fully.", "service")
	mPresent = metric("address_present",
		"Whether the link holds a service address.", "service", "address")
	mAnnounced = metric("address_announced",
		"Whether an established peer has the route of a service address.",
		"service", "address")
	mLink = metric("link_up",
		"Whether the link of a service is up.", "service", "link")
	mTrouble = metric("link_trouble",
		"Whether something is wrong with the link or the addresses of a "+
			"service; status says what.", "service", "link")
	mCheck = metric("check_level",
		"The verdict of a check.", "service", "check", "level")
	mLatency = metric("check_latency_seconds",
		"Latency of the last 300 probes of a check.", "service", "check",
		"quantile")
	mOver = metric("check_slow_over_seconds",
		"The latency above which a probe of a check is late.", "service",
		"check")
	mExpires = metric("check_certificate_expires_timestamp_seconds",
		"When the certificate ends that the server of a check showed.",
		"service", "check")
	mFailures = metric("check_consecutive_failures",
		"Failures in a row of a check.", "service", "check")
	mPeer = metric("peer_established",
		"Whether the BGP session with a peer is established.", "peer", "asn")
	mBFD = metric("bfd_up",
		"Whether the BFD session with a peer is up.", "peer")
	mBFDDetect = metric("bfd_detection_seconds",
		"The silence after which a peer counts as gone.", "peer")
	mBFDLate = metric("bfd_worst_late_seconds",
		"The worst lateness of a BFD packet of ours.", "peer")
	mBFDPackets = metric("bfd_packets_total",
		"BFD packets with a peer, by what became of them.", "peer", "fate")
	mAlarms = metric("alarms",
		"How many things are to be mended that no route hangs on; status "+
			"says which.")
	mReload = metric("config_last_reload_successful",
		"Whether the last reload was accepted.")
	mLoaded = metric("config_loaded_timestamp_seconds",
		"When the configuration in force was loaded.")
)

// words are the values that a one-hot label takes.
var (
	stanceWords = []string{"withdrawn", "depreferred", "announced"}
	levelWords  = []string{"unknown", "ok", "slow", "sick", "dead"}
)

// metrics collects from the agent's status, so that a scrape and `recuse
// status` can never differ.
type metrics struct{ agent *Agent }

// newRegistry makes a registry of the agent's own: nothing global.
func newRegistry(a *Agent) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(&metrics{a}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Describe makes this an unchecked collector: the series depend on the
// configuration in force.
func (m *metrics) Describe(chan<- *prometheus.Desc) {}

// Collect asks the loop once.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWithin)
	defer cancel()
	st, err := m.agent.Status(ctx)
	g := gauges{out}
	g.set(mUp, truth(err == nil))
	if err != nil {
		return
	}
	g.set(mInfo, 1, st.Version, st.Node)
	g.set(mAlarms, float64(len(st.Alarms)))
	g.set(mReload, truth(st.Config.LastReloadOK))
	g.set(mLoaded, float64(st.Config.LoadedAt.Unix()))
	for _, s := range st.Services {
		g.service(s)
	}
	for _, p := range st.Peers {
		g.set(mPeer, truth(p.State == established), p.Address,
			strconv.FormatUint(uint64(p.ASN), 10))
		if p.BFD != nil {
			g.bfd(p.Address, p.BFD)
		}
	}
}

// gauges writes values.
type gauges struct{ out chan<- prometheus.Metric }

// set writes one value.
func (g gauges) set(d *prometheus.Desc, v float64, labels ...string) {
	g.out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v,
		labels...)
}

// oneHot writes 1 for the word in force.
func (g gauges) oneHot(d *prometheus.Desc, words []string, word string,
	labels ...string) {
	for _, w := range words {
		g.set(d, truth(w == word), append(labels[:len(labels):len(labels)],
			w)...)
	}
}

// service writes what is known of a service.
func (g gauges) service(s control.Service) {
	g.oneHot(mStance, stanceWords, s.Stance, s.Name)
	g.oneHot(mLevel, levelWords, s.Level, s.Name)
	g.set(mDrained, truth(s.Admin != "enabled"), s.Name)
	g.set(mOthers, float64(len(s.Others)), s.Name)
	g.set(mNobody, truth(s.OthersKnown == NobodyServes.String()), s.Name)
	hold := 0.0
	if s.HoldUntil != nil {
		hold = max(0, time.Until(*s.HoldUntil).Seconds())
	}
	g.set(mHold, hold, s.Name)
	g.set(mLink, truth(s.Link.Up), s.Name, s.Link.Name)
	g.set(mTrouble, truth(s.Link.Error != ""), s.Name, s.Link.Name)
	for _, a := range s.Addresses {
		g.set(mPresent, truth(a.Present), s.Name, a.Prefix)
		g.set(mAnnounced, truth(a.Announced), s.Name, a.Prefix)
	}
	for _, c := range s.Checks {
		g.check(s.Name, c)
	}
	for _, d := range s.Decisions {
		g.out <- prometheus.MustNewConstMetric(mDecisions,
			prometheus.CounterValue, float64(d.Count), s.Name, d.To, d.Reason)
	}
}

// check writes what is known of a check.
func (g gauges) check(service string, c control.Check) {
	g.oneHot(mCheck, levelWords, c.Level, service, c.Name)
	g.set(mFailures, float64(c.Failures), service, c.Name)
	if c.Last != nil && c.Last.Expires != nil {
		g.set(mExpires, float64(c.Last.Expires.Unix()), service, c.Name)
	}
	g.set(mOver, c.SlowOverMS/1000, service, c.Name)
	g.set(mLatency, c.P50MS/1000, service, c.Name, "0.5")
	g.set(mLatency, c.P95MS/1000, service, c.Name, "0.95")
	g.set(mLatency, c.P99MS/1000, service, c.Name, "0.99")
}

// bfd writes what is known of a BFD session.
func (g gauges) bfd(peer string, b *control.BFD) {
	g.set(mBFD, truth(b.State == bfdUp), peer)
	g.set(mBFDDetect, b.DetectMS/1000, peer)
	g.set(mBFDLate, b.WorstLateMS/1000, peer)
	count := func(n uint64, fate string) {
		g.out <- prometheus.MustNewConstMetric(mBFDPackets,
			prometheus.CounterValue, float64(n), peer, fate)
	}
	count(b.Sent, "sent")
	count(b.Received, "received")
	count(b.Withheld, "withheld")
	for reason, n := range b.Discarded {
		count(n, "discarded: "+reason)
	}
}

// bfdUp is the state of a BFD session that works.
const bfdUp = "UP"

// truth is 1 or 0.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
