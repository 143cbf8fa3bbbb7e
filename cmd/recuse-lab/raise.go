package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"recuse/lab/bench"
	"recuse/lab/bench/netns"
	"recuse/lab/incus"
	"recuse/lab/peer"
	"recuse/lab/result"
	"recuse/lab/scenario"
	"recuse/lab/topology"
)

// box says how benches are raised, whatever their setup.
type box struct {
	recuse  string
	clients int
	nodes   int
	bare    bool // a flat network without the kernel settings that `recuse peering` writes
	keep    bool

	incusFlags
}

// backends raise a setup, by name.
var backends = map[string]func(context.Context, box, result.Setup, scenario.Needs) (bench.Bench, error){
	namespaces: raiseNamespaces,
	containers: raiseIncus,
}

// backendNames are the backends, sorted.
func backendNames() []string { return slices.Sorted(maps.Keys(backends)) }

// raise raises a setup with what a scenario needs.
func (b box) raise(ctx context.Context, s result.Setup, n scenario.Needs) (bench.Bench, error) {
	return backends[s.Backend](ctx, b, s, n)
}

// raiseNamespaces raises it in network namespaces.
func raiseNamespaces(ctx context.Context, b box, s result.Setup, n scenario.Needs) (bench.Bench, error) {
	o := netns.Options{Design: s.Design, Router: s.Router, Layout: s.Layout, LastResort: s.LastResort,
		Tuned: s.Tuned, Nodes: b.nodes, Clients: max(b.clients, n.Clients), Recuse: b.recuse, Peering: !b.bare,
		ServeStale: n.ServeStale, MaxTTL: n.MaxTTL, Keep: b.keep}
	if s.Design == netns.Anycast && s.Agent != agentRecuse {
		agent, err := peer.New(s.Agent, s.Tuned)
		if err != nil {
			return nil, err
		}
		o.Agent = agent
	}
	return netns.New(ctx, o)
}

// missing says what this box lacks for the setups, and how to get it, before
// anything is raised.
func (b box) missing(setups []result.Setup) error {
	for _, program := range []string{b.recuse, filepath.Join(filepath.Dir(b.recuse), "recuse-authority")} {
		if _, err := os.Stat(program); err != nil {
			return fmt.Errorf("failed to find %s: build it (make %s), or name recuse with --recuse",
				program, filepath.Join("bin", filepath.Base(program)))
		}
	}
	for _, s := range setups {
		if s.Backend == containers {
			if err := errors.Join(incus.Missing(), b.options(s, scenario.Needs{}).Check()); err != nil {
				return err
			}
			continue
		}
		if err := topology.Missing(s.Router); err != nil {
			return err
		}
		if s.Design == netns.Anycast && s.Agent != agentRecuse {
			if err := peer.Missing(s.Agent); err != nil {
				return err
			}
		}
	}
	return nil
}

// beside is the path of another of our programs: in the directory of this one,
// or where make puts it.
func beside(name string) string {
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return filepath.Join("bin", name)
}
