package netns

import (
	"fmt"
	"strings"

	"recuse/lab/bench/pace"
	"recuse/lab/topology"
)

// Settings are the settings that count, a line each.
func (b *network) Settings() []string {
	o := b.options
	s := []string{fmt.Sprintf("%d nodes with unbound, infra-host-ttl 1 s", o.Nodes)}
	if extra := pace.Unbound(o.ServeStale, o.MaxTTL); extra != "" {
		s = append(s, "unbound: "+strings.Join(strings.Split(strings.TrimSpace(extra), "\n"), ", "))
	}
	switch o.Design {
	case Baseline:
		s = append(s, "clients: n1 and n2 as DNS servers, in that order")
	case Relay:
		s = append(s, topology.RelaySettings...)
	case Anycast:
		s = append(s, b.anycast()...)
	}
	if o.Layout == topology.Flat {
		s = append(s, "router: tracks connections, drops invalid ones, translates to the WAN (an outside address for each node)")
	}
	return s
}

// anycast are the settings of the anycast design.
func (b *network) anycast() []string {
	o := b.options
	s := b.lab.Agent().Settings()
	if o.Tuned && o.Agent == nil {
		s = append(s, fmt.Sprintf("recuse: checks every %v, timeout %v", pace.TunedInterval, pace.TunedTimeout))
	}
	s = append(s, "router: flows spread by addresses and ports, as fib_multipath_hash_policy 1 does with packets from a wire")
	if o.LastResort != topology.None {
		s = append(s, "router: "+topology.ResortSettings[o.LastResort])
	}
	if b.lab.IsResilient() {
		s = append(s, "router: "+topology.ResilientSettings)
	}
	if o.Layout == topology.Flat && o.Peering {
		s = append(s, "router: sends no redirects, tracks nothing of the service, as `recuse peering` writes")
	}
	if o.Layout == topology.Flat && !o.Peering {
		s = append(s, "router: sends redirects and tracks the service's connections, against what `recuse peering` writes")
	}
	return s
}
