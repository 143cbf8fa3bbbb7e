package netns

import (
	"fmt"
	"strings"
	"time"

	"recuse/lab/topology"
)

// BFD as users have it, and as fast as it goes.
var (
	usualBFD = topology.BFD{Interval: 300 * time.Millisecond, Multiplier: 3}
	tunedBFD = topology.BFD{Interval: 50 * time.Millisecond, Multiplier: 3}
)

// The checks of recuse as fast as its settings go.
const (
	tunedInterval = 100 * time.Millisecond
	tunedTimeout  = 150 * time.Millisecond
)

// topology is the lab of a design.
func (o Options) topology() topology.Options {
	t := topology.Options{
		Router: o.Router, Layout: o.Layout, Nodes: o.Nodes, Clients: o.Clients, Spares: 1,
		KernelSettings: o.Peering && o.Layout == topology.Flat, LastResort: o.LastResort, Recuse: o.Recuse, Agent: o.Agent, BFD: &usualBFD,
		Configure: o.configure, ResolverExtra: o.resolver(), Log: o.Log, Keep: o.Keep,
	}
	if o.Tuned {
		t.BFD = &tunedBFD
	}
	if o.Agent != nil {
		t.BFD = nil // it has its own, or none
	}
	if o.Design != Anycast {
		t.Agent, t.WithoutAgent, t.RouterConfig = nil, true, bare
		t.Spares, t.BFD, t.Relay = 0, nil, o.Design == Relay
	}
	return t
}

// bare is the configuration of a router that has no peers.
func bare(router string, _ []string) (string, error) { return topology.Bare(router), nil }

// resolver is what the options add to unbound's configuration.
func (o Options) resolver() string {
	var b strings.Builder
	if o.ServeStale {
		b.WriteString("serve-expired: yes\n")
	}
	if o.MaxTTL > 0 {
		fmt.Fprintf(&b, "cache-max-ttl: %d\n", int(o.MaxTTL.Seconds()))
	}
	return b.String()
}

// configure changes a node's recuse.yaml: a log that the lab can read, and if
// asked the fastest settings.
func (o Options) configure(_ int, config map[string]any) {
	config["log"] = map[string]any{"format": "json"}
	if !o.Tuned {
		return
	}
	s := config["services"].([]any)[0].(map[string]any)
	c := s["checks"].([]any)[0].(map[string]any)
	c["interval"], c["timeout"] = tunedInterval.String(), tunedTimeout.String()
}
