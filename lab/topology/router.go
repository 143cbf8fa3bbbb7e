package topology

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Router is a box that forwards between the segments and takes the nodes'
// routes. Its daemons are FRR's or BIRD's.
type Router struct {
	*Host
	Number int    // 1 or 2: its host number on every segment
	Kind   string // FRR or BIRD

	suite    suite
	services []*Process // what else the box runs, started after the daemons
}

// suite is the set of daemons that make a router.
type suite interface {
	// configure takes the configuration for the next start.
	configure(text string) error
	// start starts the daemons and waits until they have read it.
	start(ctx context.Context) error
	// command is the argv that puts a question to the daemons.
	command(question string) []string
}

// newRouter connects the router and describes its daemons.
func newRouter(h *Host, number int, o Options) (*Router, error) {
	r := &Router{Host: h, Number: number, Kind: o.Router}
	if r.Kind == BIRD {
		r.suite = newBird(h)
	} else {
		r.suite = newFRR(h)
	}
	for _, s := range o.segments() {
		if err := h.fabric.connect(h, s, s.addresses(number)); err != nil {
			return r, err
		}
	}
	return r, r.forwarding()
}

// hashFields are what flows are hashed by: addresses, protocol and ports
// (FIB_MULTIPATH_HASH_FIELD_ in Linux).
const hashFields = "0x37"

// forwarding makes the box forward and spread flows by their ports: hashed by
// addresses alone, one client would only ever meet one node. A router of one's
// own does it by policy 1. But between namespaces a packet keeps the hash that
// its sender's socket gave it, which policy 1 takes for that of the ports; it is
// another one for every socket, and for a connection that sent something twice.
// So here the same fields are named one by one (policy 3), and hashed.
func (r *Router) forwarding() error {
	return errors.Join(
		r.Sysctl("net/ipv4/ip_forward", "1"),
		r.Sysctl("net/ipv6/conf/all/forwarding", "1"),
		r.Sysctl("net/ipv4/fib_multipath_hash_fields", hashFields),
		r.Sysctl("net/ipv6/fib_multipath_hash_fields", hashFields),
		r.Sysctl("net/ipv4/fib_multipath_hash_policy", "3"),
		r.Sysctl("net/ipv6/fib_multipath_hash_policy", "3"),
	)
}

// Configure replaces the router's configuration; it counts from the next Start.
func (r *Router) Configure(text string) error { return r.suite.configure(text) }

// Start starts the router's daemons, waits until they have their configuration,
// and starts what else the box runs.
func (r *Router) Start(ctx context.Context) error {
	if err := r.suite.start(ctx); err != nil {
		return fmt.Errorf("failed to start router %s: %w", r.ShortName, err)
	}
	return launch(ctx, r.services)
}

// Stop ends the daemons in order: the sessions close and the routes leave the
// kernel.
func (r *Router) Stop() error { return r.Host.end() }

// Restart is Stop and Start.
func (r *Router) Restart(ctx context.Context) error {
	if err := r.Stop(); err != nil {
		return err
	}
	return r.Start(ctx)
}

// Reboot has the router forget what a reboot of its box would make it forget:
// its daemons die without a word, the routes that they made and the neighbours
// are gone, and all starts anew. It forwards all the while: how long a box
// needs to boot is none of the lab's business.
func (r *Router) Reboot(ctx context.Context) error {
	if err := r.Kill(); err != nil {
		return err
	}
	if err := r.Forget(ctx); err != nil {
		return err
	}
	return r.Start(ctx)
}

// Forget empties the kernel of what a reboot would: the routes that daemons made
// and the neighbours.
func (r *Router) Forget(ctx context.Context) error {
	for _, family := range []string{"-4", "-6"} {
		for _, what := range [][]string{{"route", "flush", "proto", "bgp"}, {"route", "flush", "proto", "bird"}, {"neighbour", "flush", "all"}} {
			if _, err := r.Run(ctx, append([]string{"ip", family}, what...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Show asks the router's daemons: a vtysh command for FRR, one of birdc for
// BIRD.
func (r *Router) Show(ctx context.Context, question string) (string, error) {
	argv := r.suite.command(question)
	return r.Run(ctx, argv...)
}

// Log is what the router's daemons have written, one after the other.
func (r *Router) Log() string {
	var b strings.Builder
	for _, p := range r.processes {
		b.WriteString(p.Log())
	}
	return b.String()
}

// exists reports whether there is something at path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
