package netns

import (
	"fmt"
	"log/slog"
	"time"

	"recuse/lab/topology"
)

// The designs.
const (
	Baseline = "baseline" // the clients have two of the nodes as DNS servers
	Relay    = "relay"    // dnsdist on the router asks the nodes in order
	Anycast  = "anycast"  // the nodes announce one address
)

// Options say what to raise. The zero value but for Recuse is the anycast design
// with recuse at its defaults behind FRR.
type Options struct {
	Design     string // Anycast by default
	Router     string // topology.FRR (default) or topology.BIRD
	Layout     string // topology.Routed (default) or topology.Flat
	LastResort string // topology.None by default, Floating, Policy, Redirect

	// Agent announces in recuse's place. It has its own settings, Tuned included.
	Agent topology.Agent
	// Tuned is recuse as fast as its settings go; of another agent only the
	// report's word.
	Tuned bool

	Nodes   int // 3 by default
	Clients int // 1 by default

	Recuse string // path of the recuse binary; recuse-authority is beside it

	ServeStale bool          // the resolvers answer from expired cache (RFC 8767)
	MaxTTL     time.Duration // how long the resolvers keep a name at most; 0: as long as it says
	Resilient  bool          // the router's ECMP groups move no flow that need not move
	// Peering is whether a flat network has the kernel settings that `recuse
	// peering` writes beside the router's configuration.
	Peering bool

	Log  *slog.Logger // none: silence
	Keep bool         // leave the run directory behind
}

// withDefaults fills in what was left out and refuses what cannot be.
func (o Options) withDefaults() (Options, error) {
	for _, s := range []struct {
		value *string
		name  string
		known []string
	}{
		{&o.Design, "design", []string{Anycast, Relay, Baseline}},
		{&o.Router, "router", []string{topology.FRR, topology.BIRD}},
		{&o.Layout, "layout", []string{topology.Routed, topology.Flat}},
		{&o.LastResort, "last resort", []string{topology.None, topology.Floating, topology.Policy, topology.Redirect}},
	} {
		if err := oneOf(s.value, s.name, s.known); err != nil {
			return o, err
		}
	}
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Nodes < 2 {
		return o, fmt.Errorf("nodes %d: must be at least 2", o.Nodes)
	}
	if o.Clients == 0 {
		o.Clients = 1
	}
	if o.LastResort != topology.None && o.Design != Anycast {
		return o, fmt.Errorf("last resort %s: belongs to the design %s", o.LastResort, Anycast)
	}
	return o, nil
}

// oneOf gives the value the first of the known ones if it has none, and refuses
// what is not known.
func oneOf(value *string, name string, known []string) error {
	if *value == "" {
		*value = known[0]
	}
	for _, k := range known {
		if *value == k {
			return nil
		}
	}
	return fmt.Errorf("%s %q: must be one of %v", name, *value, known)
}
