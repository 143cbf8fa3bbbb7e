package incus

import (
	"context"
	"errors"
	"slices"
	"strings"

	"recuse/lab/topology"
)

// router is FRR in a container.
type router struct {
	bench *network
	box   *box
	guest *topology.Router
}

// raiseRouter makes and boots the router with its configuration for all nodes.
func (b *network) raiseRouter(ctx context.Context) error {
	box, err := newBox(b.daemon, b.run, "r1", topology.RouterPorts)
	if err != nil {
		return err
	}
	text, err := b.peering(ctx)
	if err != nil {
		return err
	}
	if err := box.write("frr.conf", routerLog+text); err != nil {
		return err
	}
	if err := box.create(ctx); err != nil {
		return err
	}
	pid, err := box.start(ctx)
	if err != nil {
		return err
	}
	vtysh := func(question string) []string { return box.inside("vtysh", "-c", question) }
	guest, err := b.site.GuestRouter("r1", pid, vtysh)
	if err != nil {
		return err
	}
	b.router = &router{b, box, guest}
	return nil
}

// leave gives the container's network back.
func (r *router) leave() error {
	return errors.Join(r.bench.site.Resilient(context.Background(), false), r.guest.Leave())
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
	names := []string{}
	for _, h := range hops {
		names = append(names, r.bench.site.NameOf(h))
	}
	slices.Sort(names)
	return names, nil
}

// Wide cuts the router off from the internet's authority.
func (r *router) Wide(ctx context.Context, cut bool) error { return r.bench.site.CutWide(ctx, cut) }

// Resilient puts resilient groups of the kernel before the router's own.
func (r *router) Resilient(ctx context.Context, on bool) error {
	return r.bench.site.Resilient(ctx, on)
}

// versions asks a node and the router.
func (b *network) versions(ctx context.Context) map[string]string {
	all := map[string]string{}
	ask := func(name string, box *box, argv ...string) {
		out, err := box.run(ctx, argv...)
		if line, _, _ := strings.Cut(strings.TrimSpace(out), "\n"); err == nil {
			all[name] = line
		}
	}
	n := b.nodes[0]
	ask("recuse", n.box, "recuse", "--version")
	if b.options.AdGuardHome == "" {
		ask("unbound", n.box, "unbound", "-V")
	} else {
		ask("adguardhome", n.box, "AdGuardHome", "--version")
	}
	ask("frr", b.router.box, "/usr/lib/frr/bgpd", "--version")
	if out, err := b.daemon.client(ctx, "", "--version"); err == nil {
		all["incus"] = strings.TrimSpace(out)
	}
	return all
}
