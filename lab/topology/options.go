package topology

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"time"
)

// The routers that a lab can have.
const (
	FRR  = "frr"
	BIRD = "bird"
)

// The layouts of the network that a lab can have.
const (
	Routed = "routed" // clients on a network of their own, the nodes behind the router
	Flat   = "flat"   // clients and nodes on one network, as in most homes
)

// Options say what lab to raise. The zero value is a lab of three nodes behind
// an FRR router, without agents.
type Options struct {
	Router  string // FRR (default) or BIRD
	Routers int    // 1 (default) or 2
	Nodes   int    // 3 by default
	Spares  int    // nodes more that the routers are told of, for AddNode

	Layout string // Routed (default) or Flat
	// KernelSettings has the routers do what the configuration that they are
	// given says, in comments, to run outside of their daemons.
	KernelSettings bool
	Clients        int // addresses that ask, 1 by default; on a flat network each is a host

	// Relay puts dnsdist and a resolver of its own on the first router.
	Relay bool
	// LastResort is how the first router answers for the service addresses when
	// no node is left: None (default), Floating, Policy, Redirect.
	LastResort string

	Recuse    string   // path of the recuse binary; none: no agents, routers without peers
	Authority []string // command of the authority; default: recuse-authority beside Recuse

	Addresses   []netip.Prefix // service addresses; DefaultAddresses if none
	LinkKind    string         // default: dummy, or ifb where the kernel has no dummy
	Password    string         // TCP MD5 password of all sessions; none: none
	TTLSecurity bool           // GTSM on all sessions
	HoldTime    time.Duration  // of all sessions; default 9 s
	BFD         *BFD           // of all sessions; none: none

	// Configure changes a node's recuse.yaml before it is written; node counts
	// from 0. The router's side is made from the result.
	Configure func(node int, config map[string]any)
	// Agent stands in for recuse; Recuse is then only where to find the authority.
	Agent Agent
	// RouterConfig makes a router's configuration out of the nodes' recuse.yaml;
	// by default `recuse peering` does.
	RouterConfig func(router string, configs []string) (string, error)

	ResolverListen []netip.Addr // unbound's addresses; none: all, present and future
	ResolverExtra  string       // more lines for unbound's server section
	// Switchable puts an authority of its own on every node in place of
	// unbound: a resolver that is slow, wrong or silent at will (Node.Behave).
	Switchable bool

	// What New does not start, for a test that starts it later by itself.
	WithoutRouter, WithoutResolver, WithoutAgent bool

	Log  *slog.Logger // none: silence
	Keep bool         // leave the run directory (configurations, logs) behind
}

// withDefaults fills in what was left out and refuses what cannot be.
func (o Options) withDefaults() (Options, error) {
	set(&o.Router, FRR)
	set(&o.Routers, 1)
	set(&o.Nodes, 3)
	set(&o.Layout, Routed)
	set(&o.Clients, 1)
	set(&o.LastResort, None)
	set(&o.HoldTime, 9*time.Second)
	set(&o.Log, slog.New(slog.DiscardHandler))
	if len(o.Addresses) == 0 {
		o.Addresses = DefaultAddresses()
	}
	if len(o.Authority) == 0 && o.Recuse != "" {
		o.Authority = []string{filepath.Join(filepath.Dir(o.Recuse), "recuse-authority")}
	}
	if o.Router != FRR && o.Router != BIRD {
		return o, fmt.Errorf("router %q: must be %s or %s", o.Router, FRR, BIRD)
	}
	if o.Routers < 1 || o.Routers > 2 {
		return o, fmt.Errorf("routers %d: must be 1 or 2", o.Routers)
	}
	if o.Nodes < 1 || o.Spares < 0 || o.Nodes+o.Spares > MaxNodes {
		return o, fmt.Errorf("nodes %d: must be 1 to %d", o.Nodes+o.Spares, MaxNodes)
	}
	if o.Layout != Routed && o.Layout != Flat {
		return o, fmt.Errorf("layout %q: must be %s or %s", o.Layout, Routed, Flat)
	}
	if !slices.Contains([]string{None, Floating, Policy, Redirect}, o.LastResort) {
		return o, fmt.Errorf("last resort %q: must be %s, %s, %s or %s", o.LastResort, None, Floating, Policy, Redirect)
	}
	if o.Relay && o.LastResort != None {
		return o, fmt.Errorf("last resort %s: a relay is one already", o.LastResort)
	}
	if o.Clients < 1 || o.Clients > MaxClients {
		return o, fmt.Errorf("clients %d: must be 1 to %d", o.Clients, MaxClients)
	}
	if len(o.Authority) == 0 {
		return o, errors.New("authority: no command and no recuse binary to find it beside")
	}
	return o, nil
}

// agent is what the nodes run.
func (o Options) agent() Agent {
	if o.Agent != nil {
		return o.Agent
	}
	return &recuseAgent{options: o}
}

// clientNet is the network that the clients are on.
func (o Options) clientNet() segment {
	if o.Layout == Flat {
		return nodeNet
	}
	return clientNet
}

// segments are the lab's networks.
func (o Options) segments() []segment {
	segments := []segment{nodeNet, wideNet}
	if o.Layout == Routed {
		segments = append(segments, clientNet)
	}
	if o.LastResort == Floating {
		segments = append(segments, resortNet)
	}
	return segments
}

// askAt is an address at which a node's resolver listens.
func (o Options) askAt() netip.Addr {
	if len(o.ResolverListen) > 0 {
		return o.ResolverListen[0]
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

// set gives v the value d if it has none.
func set[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
