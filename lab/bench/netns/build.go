package netns

import (
	"recuse/lab/bench/pace"
	"recuse/lab/topology"
)

// topology is the lab of a design.
func (o Options) topology() topology.Options {
	t := topology.Options{
		Router: o.Router, Layout: o.Layout, Nodes: o.Nodes, Clients: o.Clients, Spares: 1,
		KernelSettings: o.Peering && o.Layout == topology.Flat, LastResort: o.LastResort, Recuse: o.Recuse, Agent: o.Agent, BFD: pace.BFD(o.Tuned),
		Configure: o.configure, ResolverExtra: pace.Unbound(o.ServeStale, o.MaxTTL), Log: o.Log, Keep: o.Keep,
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

// configure changes a node's recuse.yaml.
func (o Options) configure(_ int, config map[string]any) { pace.Recuse(config, o.Tuned) }
