package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	dialects "recuse/deploy/routers"
	"recuse/lab/bench"
	"recuse/lab/bench/netns"
	"recuse/lab/incus"
	"recuse/lab/result"
	"recuse/lab/scenario"
	"recuse/lab/topology"
)

// incusFlags are the flags of the backend incus.
type incusFlags struct {
	router  string // a real one, in the place of FRR in a container
	uplinks map[string]string
	routes  string
	adguard string
	arch    string
	emulate bool
}

// flags adds them to a command's.
func (i *incusFlags) flags(f *pflag.FlagSet) {
	const on = "backend incus: "
	f.StringVar(&i.router, "real-router", "", on+"a real router in FRR's place, by its kind: "+join(dialects.Names()))
	f.StringToStringVar(&i.uplinks, "uplink", nil, on+"interfaces of this box that lead to the real router: "+
		strings.Join(topology.RouterPorts, "=eth1,")+"=eth1")
	f.StringVar(&i.routes, "routes", "", on+"shell `command` that prints the real router's route to the service address")
	f.StringVar(&i.adguard, "adguard-home", "", on+"`path` of AdGuard Home's program, which the nodes run in unbound's place")
	f.StringVar(&i.arch, "arch", "", on+"amd64 or arm64 (default this box's own)")
	f.BoolVar(&i.emulate, "emulate", false, on+"allow another architecture, though emulated times say nothing")
}

// check refuses what another backend has not, and a router that there is not.
func (i *incusFlags) check(backend string) error {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"real-router", i.router != ""}, {"uplink", len(i.uplinks) > 0}, {"routes", i.routes != ""},
		{"adguard-home", i.adguard != ""}, {"arch", i.arch != ""}, {"emulate", i.emulate},
	} {
		if f.set && backend != containers {
			return fmt.Errorf("%w: --%s: is for --backend %s", errUsage, f.name, containers)
		}
	}
	if (i.router == "") != (len(i.uplinks) == 0) {
		return fmt.Errorf("%w: --real-router and --uplink: one needs the other", errUsage)
	}
	if i.router == "" {
		return nil
	}
	return known("real-router", i.router, dialects.Names())
}

// on are the setups, with the real router in the place of those chosen if there
// is one.
func (i *incusFlags) on(c choices) []result.Setup {
	if i.router != "" {
		c.routers = []string{i.router}
	}
	return c.setups()
}

// options are what raises a setup with what a scenario needs.
func (b box) options(s result.Setup, n scenario.Needs) incus.Options {
	i := b.incusFlags
	return incus.Options{Recuse: b.recuse, Nodes: b.nodes, Clients: max(b.clients, n.Clients), Tuned: s.Tuned,
		ServeStale: n.ServeStale, MaxTTL: n.MaxTTL, AdGuardHome: i.adguard, Uplinks: i.uplinks, Router: i.router,
		Routes: i.routes, Arch: i.arch, Emulate: i.emulate}
}

// raiseIncus raises it in containers of Incus, which has one design.
func raiseIncus(ctx context.Context, b box, s result.Setup, n scenario.Needs) (bench.Bench, error) {
	for _, only := range []struct{ value, can, what string }{
		{s.Design, netns.Anycast, "design"}, {s.Agent, agentRecuse, "agent"},
		{s.Router, cmp.Or(b.router, topology.FRR), "router"},
		{s.Layout, topology.Routed, "layout"}, {s.LastResort, topology.None, "last resort"},
	} {
		if only.value != only.can {
			return nil, fmt.Errorf("%s %s: %w: Incus has %s only", only.what, only.value, bench.ErrUnsupported, only.can)
		}
	}
	return incus.New(ctx, b.options(s, n))
}
