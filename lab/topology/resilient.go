package topology

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Resilient groups (Linux 5.13, ip-nexthop(8)) keep a flow at its node while
// others come and go: a bucket moves only when its node is gone or when it has
// been idle. FRR 8.4 and BIRD 2 make none for BGP routes, and the kernel lets
// nobody change the kind of a group that they made. So the lab does what an
// administrator could: a table of its own, asked before the main one, has the
// service's routes with resilient groups, and a keeper holds them in step with
// the daemons' routes in the main table.
const (
	resilientTable   = "154"
	resilientPref    = "400"
	resilientProto   = "154" // that tells the lab's next hops from the daemons'
	resilientBuckets = "512"
	resilientIdle    = "5" // seconds without a packet after which a bucket may move
)

// ResilientSettings is what they are set to, for a report.
const ResilientSettings = "resilient next hop groups of " + resilientBuckets + " buckets, idle timer " + resilientIdle +
	" s, in a table before the main one, kept in step with the daemons' routes by the lab"

// IsResilient reports whether the first router has them.
func (l *Lab) IsResilient() bool { return l.keeper != nil }

// keeper holds the groups of one router in step.
type keeper struct {
	lab    *Lab
	router *Router
	stop   context.CancelFunc
	done   chan error // how it ended
}

// Resilient puts resilient groups before the first router's routes to the
// service addresses, or takes them away.
func (l *Lab) Resilient(ctx context.Context, on bool) error {
	switch {
	case on && l.keeper == nil:
		return l.keep(ctx)
	case !on && l.keeper != nil:
		err := l.keeper.end()
		l.keeper = nil
		return err
	}
	return nil
}

// keep starts the keeper; the groups are there when it returns. It lives until
// it is ended, whatever becomes of ctx.
func (l *Lab) keep(ctx context.Context) error {
	k := &keeper{lab: l, router: l.Router, done: make(chan error, 1)}
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	k.stop = stop
	events, err := k.router.Watch(own)
	if err == nil {
		err = k.begin(own)
	}
	if err != nil {
		stop()
		return errors.Join(fmt.Errorf("failed to make resilient groups: %w", err), k.clear())
	}
	go func() { k.done <- k.follow(own, events) }()
	l.keeper = k
	return nil
}

// follow keeps the groups in step until ctx ends.
func (k *keeper) follow(ctx context.Context, events <-chan RouteEvent) error {
	var errs []error
	for e := range events {
		if i := slices.Index(k.lab.options.Addresses, e.Prefix); i >= 0 {
			errs = append(errs, k.set(ctx, i, e.NextHops))
		}
	}
	if ctx.Err() != nil {
		return nil // what the end has cut off is no failure
	}
	return errors.Join(append(errs, errors.New("failed to keep resilient groups in step: lost sight of the routes"))...)
}

// end stops the keeper and takes its routes away. It returns what went wrong
// while it ran.
func (k *keeper) end() error {
	k.stop()
	return errors.Join(<-k.done, k.clear())
}

// begin makes the rules and the groups of the routes that are there.
func (k *keeper) begin(ctx context.Context) error {
	for i, p := range k.lab.options.Addresses {
		hops, err := k.router.NextHops(p)
		if err != nil {
			return err
		}
		if err := k.set(ctx, i, hops); err != nil {
			return err
		}
		if err := k.router.ip(ctx, p, "rule", "add", "pref", resilientPref, "to", p.String(), "lookup", resilientTable); err != nil {
			return err
		}
	}
	return nil
}

// set gives the service address of that index a group of these next hops, in
// one call: while it is under way flows still go to a node that is gone. What is
// no node's, a last resort, is left to the main table.
func (k *keeper) set(ctx context.Context, index int, hops []netip.Addr) error {
	p := k.lab.options.Addresses[index]
	group := 1000 * (index + 1)
	var members []string
	var batch strings.Builder
	for _, hop := range hops {
		n := k.lab.nodeOf(hop)
		if n == nil {
			continue
		}
		id := strconv.Itoa(group + 1 + n.Index)
		members = append(members, id)
		fmt.Fprintf(&batch, "nexthop replace id %s via %s dev %s protocol %s\n", id, hop, nodeNet.device, resilientProto)
	}
	if len(members) == 0 {
		// No route, no group: it is an error that there is none to take away.
		_ = k.router.ip(ctx, p, "route", "del", p.String(), "table", resilientTable)
		return nil
	}
	fmt.Fprintf(&batch, "nexthop replace id %d group %s type resilient buckets %s idle_timer %s protocol %s\n",
		group, strings.Join(members, "/"), resilientBuckets, resilientIdle, resilientProto)
	fmt.Fprintf(&batch, "route replace %s nhid %d table %s\n", p, group, resilientTable)
	if err := k.router.WriteFile("resilient.batch", batch.String()); err != nil {
		return err
	}
	_, err := k.router.Run(ctx, "ip", "-batch", k.router.Path("resilient.batch"))
	return err
}

// nexthop runs ip nexthop; a group is of no family.
func (k *keeper) nexthop(ctx context.Context, args ...string) error {
	_, err := k.router.Run(ctx, append([]string{"ip", "nexthop"}, args...)...)
	return err
}

// clear takes rules, routes and groups away.
func (k *keeper) clear() error {
	ctx := context.Background()
	for _, p := range k.lab.options.Addresses {
		_ = k.router.ip(ctx, p, "rule", "del", "pref", resilientPref) // it may never have been made
		_ = k.router.ip(ctx, p, "route", "del", p.String(), "table", resilientTable)
	}
	return k.nexthop(ctx, "flush", "protocol", resilientProto)
}
