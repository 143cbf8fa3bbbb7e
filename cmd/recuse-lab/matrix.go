package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"recuse/lab/bench/netns"
	"recuse/lab/load/stub"
	"recuse/lab/peer"
	"recuse/lab/result"
	"recuse/lab/scenario"
	"recuse/lab/topology"
)

// The agent that the lab is about, and what the boxes can be.
const (
	agentRecuse = "recuse"
	agentNone   = "none" // of a design without
	namespaces  = "namespaces"
	containers  = "incus"
)

// choices are the values of each setting that a run goes through, every one
// with every other.
type choices struct {
	designs, routers, agents, layouts, resorts, stubs []string

	tuned   bool
	backend string
}

// flags adds what chooses a setup to a command; the first value of each is the
// default.
func (c *choices) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	several := "; several with commas between them"
	f.StringSliceVar(&c.designs, "design", []string{netns.Anycast}, "design: "+strings.Join(designs, ", ")+several)
	f.StringSliceVar(&c.routers, "router", []string{topology.FRR}, "router: "+strings.Join(routers, ", ")+several)
	f.StringSliceVar(&c.agents, "agent", []string{agentRecuse}, "agent of the design anycast: "+strings.Join(agents(), ", ")+several)
	f.StringSliceVar(&c.layouts, "layout", []string{topology.Routed}, "network: "+strings.Join(layouts, ", ")+several)
	f.StringSliceVar(&c.resorts, "last-resort", []string{topology.None},
		"what the router of the design anycast does when no node is left: "+strings.Join(resorts, ", ")+several)
	f.BoolVar(&c.tuned, "tuned", false, "the agent as fast as its settings go, in place of its defaults")
	f.StringVar(&c.backend, "backend", namespaces, "what the boxes are: "+strings.Join(backendNames(), ", "))
}

// The values that there are.
var (
	designs = []string{netns.Baseline, netns.Relay, netns.Anycast}
	routers = []string{topology.FRR, topology.BIRD}
	layouts = []string{topology.Routed, topology.Flat}
	resorts = []string{topology.None, topology.Floating, topology.Policy, topology.Redirect}
)

// agents are those of the design anycast.
func agents() []string { return append([]string{agentRecuse}, peer.Names()...) }

// stubNames are the models of a client.
func stubNames() []string {
	var names []string
	for _, m := range stub.Models() {
		names = append(names, m.Name)
	}
	return names
}

// check refuses what there is not.
func (c *choices) check() error {
	for _, s := range []struct {
		flag   string
		values []string
		known  []string
	}{
		{"design", c.designs, designs},
		{"router", c.routers, routers},
		{"agent", c.agents, agents()},
		{"layout", c.layouts, layouts},
		{"last-resort", c.resorts, resorts},
		{"stub", c.stubs, stubNames()},
		{"backend", []string{c.backend}, backendNames()},
	} {
		if len(s.values) == 0 {
			return fmt.Errorf("%w: --%s: must not be empty", errUsage, s.flag)
		}
		for _, v := range s.values {
			if err := known(s.flag, v, s.known); err != nil {
				return err
			}
		}
	}
	return nil
}

// setups are all combinations that are different: a design without routing has
// no agent and no last resort, so these are one there.
func (c *choices) setups() []result.Setup {
	setups := []result.Setup{{Backend: c.backend, Tuned: c.tuned}}
	for _, choice := range []struct {
		values []string
		set    func(*result.Setup, string)
	}{
		{c.designs, func(s *result.Setup, v string) { s.Design = v }},
		{c.routers, func(s *result.Setup, v string) { s.Router = v }},
		{c.agents, func(s *result.Setup, v string) { s.Agent = v }},
		{c.layouts, func(s *result.Setup, v string) { s.Layout = v }},
		{c.resorts, func(s *result.Setup, v string) { s.LastResort = v }},
		{c.stubs, func(s *result.Setup, v string) { s.Stub = v }},
	} {
		var more []result.Setup
		for _, s := range setups {
			for _, v := range choice.values {
				choice.set(&s, v)
				more = append(more, s)
			}
		}
		setups = more
	}
	var different []result.Setup
	for _, s := range setups {
		if s = normal(s); !slices.Contains(different, s) {
			different = append(different, s)
		}
	}
	return different
}

// normal is a setup without what its design does not have.
func normal(s result.Setup) result.Setup {
	if s.Design != netns.Anycast {
		s.Agent, s.LastResort, s.Tuned = agentNone, topology.None, false
	}
	return s
}

// id is the directory of the nth run, from 1, of a scenario on a setup: what is
// usual is left out.
func id(s scenario.Scenario, on result.Setup, n int) string {
	parts := []string{s.Name, on.Design}
	if on.Design == netns.Anycast {
		parts = append(parts, on.Agent, on.Router)
	} else if on.Router != topology.FRR {
		parts = append(parts, on.Router)
	}
	if on.Tuned {
		parts = append(parts, "tuned")
	}
	for _, unusual := range []struct{ value, usual string }{
		{on.Layout, topology.Routed}, {on.LastResort, topology.None}, {on.Stub, usualStub}, {on.Backend, namespaces},
	} {
		if unusual.value != unusual.usual {
			parts = append(parts, unusual.value)
		}
	}
	if n > 1 {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, "_")
}

// usualStub is a client's model if nobody chooses: what the seed's clients do,
// and the same in every design.
const usualStub = "two"
