package incus

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"recuse/lab/bench"
	"recuse/lab/result"
	"recuse/lab/topology"
)

// routing is the router, ours or somebody else's.
type routing interface {
	bench.Router
	raise(ctx context.Context) error
	ready(ctx context.Context) error
	// watch tells the next hops behind the service address as they are and as
	// they change; it returns when it watches.
	watch(ctx context.Context, sources *sync.WaitGroup, tell func(result.Event)) error
	// versions of its programs.
	versions(ctx context.Context) map[string]string
	settings() string
	leave() error
}

// router is FRR in a container.
type router struct {
	bench *network
	box   *box
	guest *topology.Router
}

// raise makes and boots the router with its configuration for all nodes.
func (r *router) raise(ctx context.Context) (err error) {
	b := r.bench
	if r.box, err = newBox(b.daemon, b.run, "r1", topology.RouterPorts); err != nil {
		return err
	}
	text, err := b.peering(ctx, topology.FRR)
	if err != nil {
		return err
	}
	if err := r.box.write("frr.conf", routerLog+text); err != nil {
		return err
	}
	if err := r.box.create(ctx); err != nil {
		return err
	}
	pid, err := r.box.start(ctx)
	if err != nil {
		return err
	}
	vtysh := func(question string) []string { return r.box.inside("vtysh", "-c", question) }
	r.guest, err = b.site.GuestRouter("r1", pid, vtysh)
	return err
}

// leave gives the container's network back, if it has one.
func (r *router) leave() error {
	if r.guest == nil {
		return nil
	}
	return errors.Join(r.bench.site.Resilient(context.Background(), false), r.guest.Leave())
}

// ready waits for the router's kernel and its BFD.
func (r *router) ready(ctx context.Context) error {
	return r.bench.site.WaitAnnounced(ctx, readyWithin, r.bench.site.Nodes...)
}

// settings is the report's line.
func (*router) settings() string {
	return "router: FRR in a container; flows spread by addresses and ports"
}

// versions asks bgpd.
func (r *router) versions(ctx context.Context) map[string]string {
	return r.box.version(ctx, topology.FRR, "/usr/lib/frr/bgpd", "--version")
}

// watch takes the kernel's word.
func (r *router) watch(ctx context.Context, sources *sync.WaitGroup, tell func(result.Event)) error {
	at := time.Now()
	events, err := r.guest.Watch(ctx)
	if err != nil {
		return err
	}
	names, err := r.NextHops(ctx)
	if err != nil {
		return err
	}
	sources.Go(func() {
		tell(routes(at, names))
		for e := range events {
			if e.Prefix == serviceAddress {
				tell(routes(e.At, r.bench.names(e.NextHops)))
			}
		}
	})
	return nil
}

// Restart is what a reboot does to the router's daemons and routes: they die
// without a word, what they knew is gone, and all starts anew. The container's
// network stays.
func (r *router) Restart(ctx context.Context) error {
	frr := service{r.box, "frr"}
	if err := frr.Kill(ctx); err != nil {
		return err
	}
	if err := r.guest.Forget(ctx); err != nil {
		return err
	}
	return frr.Start(ctx)
}

// NextHops are the nodes' names behind the service address in the kernel.
func (r *router) NextHops(context.Context) ([]string, error) {
	hops, err := r.guest.NextHops(serviceAddress)
	if err != nil {
		return nil, err
	}
	return r.bench.names(hops), nil
}

// names are those behind next hops, sorted.
func (b *network) names(hops []netip.Addr) []string {
	names := []string{}
	for _, h := range hops {
		names = append(names, b.site.NameOf(h))
	}
	slices.Sort(names)
	return names
}

// Wide cuts the router off from the internet's authority.
func (r *router) Wide(ctx context.Context, cut bool) error { return r.bench.site.CutWide(ctx, cut) }

// Resilient puts resilient groups of the kernel before the router's own.
func (r *router) Resilient(ctx context.Context, on bool) error {
	return r.bench.site.Resilient(ctx, on)
}
