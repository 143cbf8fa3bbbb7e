package incus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"recuse/lab/authority"
	"recuse/lab/bench"
	"recuse/lab/bench/netns"
	"recuse/lab/load"
	"recuse/lab/result"
	"recuse/lab/topology"
)

// imageAlias is the image's name in incusd.
const imageAlias = "recuse-lab"

// dnsPort is where every server of the lab listens.
const dnsPort = 53

// readyWithin is how long the containers may take until all serve, on a box with
// more to do than it can.
const readyWithin = 90 * time.Second

// service address that the clients ask.
var serviceAddress = topology.DefaultAddresses()[0]

// network is the raised design.
type network struct {
	options Options
	site    *topology.Lab
	run     *run
	daemon  *daemon
	router  routing
	nodes   []*node
	unhook  func() bool
	close   func() error
}

// New raises the design and returns when its containers run; Ready waits until
// all serve. Without the image in the cache it makes it first, which takes a
// minute. When ctx ends the bench closes itself.
func New(ctx context.Context, o Options) (bench.Bench, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("failed to raise a bench: %w", err)
	}
	if err := Missing(); err != nil {
		return nil, err
	}
	path, err := image(ctx, o)
	if err != nil {
		return nil, err
	}
	b := &network{options: o, unhook: func() bool { return true }}
	b.close = sync.OnceValue(b.tearDown)
	if err := b.raise(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to raise a bench: %w", err), b.close())
	}
	b.unhook = context.AfterFunc(ctx, func() {
		if err := b.close(); err != nil {
			o.Log.Error("bench did not close cleanly", "error", err)
		}
	})
	return b, nil
}

// raise makes the site, incusd and the containers. The node to come is described
// to the router from the start.
func (b *network) raise(ctx context.Context, image string) (err error) {
	start := time.Now()
	if b.site, err = topology.NewSite(ctx, b.options.site()); err != nil {
		return err
	}
	if b.run, err = newRun(b.site.ID()); err != nil {
		return err
	}
	if b.daemon, err = startDaemon(ctx, b.site.Switch(), b.run.path); err != nil {
		return err
	}
	if _, err := b.daemon.client(ctx, "", "image", "import", "--quiet", image, "--alias", imageAlias); err != nil {
		return err
	}
	for i := range b.options.Nodes + 1 {
		n, err := b.describe(i)
		if err != nil {
			return err
		}
		b.nodes = append(b.nodes, n)
	}
	b.router = &router{bench: b}
	if len(b.options.Uplinks) > 0 {
		b.router = &outside{bench: b}
	}
	if err := b.router.raise(ctx); err != nil {
		return err
	}
	if err := b.raiseNodes(ctx); err != nil {
		return err
	}
	b.options.Log.Info("bench is up", "id", b.run.id, "nodes", b.options.Nodes, "took", time.Since(start))
	return nil
}

// raiseNodes makes and starts the nodes, but for the one to come.
func (b *network) raiseNodes(ctx context.Context) error {
	errs := make([]error, b.options.Nodes)
	var wait sync.WaitGroup
	for i, n := range b.nodes[:b.options.Nodes] {
		wait.Go(func() { errs[i] = n.make(ctx) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, n := range b.nodes[:b.options.Nodes] {
		if err := n.boot(ctx); err != nil {
			return err
		}
	}
	b.nodes = b.nodes[:b.options.Nodes]
	return nil
}

// peering is the configuration of a router of that kind by recuse's own word,
// from all nodes' files.
func (b *network) peering(ctx context.Context, router string) (string, error) {
	args := []string{"peering", "--router", router}
	for _, n := range b.nodes {
		args = append(args, "-c", filepath.Join(n.box.dir, "recuse", topology.ConfigFile))
	}
	out, err := exec.CommandContext(ctx, b.options.Recuse, args...).Output()
	if err != nil {
		return "", fmt.Errorf("failed to run recuse peering: %w", err)
	}
	return string(out), nil
}

// Setup says what was raised.
func (b *network) Setup() result.Setup {
	return result.Setup{Design: netns.Anycast, Agent: "recuse", Tuned: b.options.Tuned, Router: b.options.Router,
		Layout: topology.Routed, LastResort: topology.None, Backend: "incus"}
}

// Settings are the settings that count.
func (b *network) Settings() []string {
	resolver := "unbound, infra-host-ttl 1 s"
	if b.options.AdGuardHome != "" {
		resolver = "AdGuard Home"
	}
	bfd := b.options.site().BFD
	s := []string{
		fmt.Sprintf("%d Debian containers (%s) with %s and recuse under its systemd unit", b.options.Nodes, b.options.Arch, resolver),
		"recuse: BFD " + bfd.String(),
		"the unit without real-time scheduling, which a container may not have, and without restarts",
		b.router.settings(),
	}
	if b.options.Emulate {
		s = append(s, "emulated: times say nothing")
	}
	return s
}

// Servers are what DHCP would give the clients.
func (b *network) Servers() []netip.AddrPort {
	return []netip.AddrPort{netip.AddrPortFrom(serviceAddress.Addr(), dnsPort)}
}

// Network is where client i's sockets are opened.
func (b *network) Network(i int) load.Network {
	c, own := b.site.Asker(i)
	return load.Network{Do: c.Do, Local: own}
}

// Clients is how many there are.
func (b *network) Clients() int { return b.options.Clients }

// Nodes are the nodes, one that was added included.
func (b *network) Nodes() []bench.Node {
	var nodes []bench.Node
	for _, n := range b.nodes {
		nodes = append(nodes, n)
	}
	return nodes
}

// Router is the router.
func (b *network) Router() bench.Router { return b.router }

// Relay is nil: the design has none.
func (b *network) Relay() bench.Daemon { return nil }

// Zone makes a zone behave so towards these nodes, or all if none is named.
func (b *network) Zone(ctx context.Context, zone string, how authority.Behaviour, nodes ...bench.Node) error {
	if len(nodes) == 0 {
		return b.site.Authority.SetAll(ctx, zone, how)
	}
	var those []*topology.Node
	for _, n := range nodes {
		own, ok := n.(*node)
		if !ok {
			return fmt.Errorf("failed to find node %s: it is none of this bench", n.Name())
		}
		those = append(those, own.guest)
	}
	return b.site.Authority.SetFor(ctx, zone, how, those...)
}

// Zones says what every zone was asked and how often it failed.
func (b *network) Zones(ctx context.Context) (map[string]authority.Zone, error) {
	return b.site.Authority.Zones(ctx)
}

// AddNode raises the one node more that the router knows of.
func (b *network) AddNode(ctx context.Context) (bench.Node, error) {
	if len(b.nodes) > b.options.Nodes {
		return nil, errors.New("failed to add a node: no spare one is left")
	}
	n, err := b.describe(len(b.nodes))
	if err != nil {
		return nil, err
	}
	if err := n.make(ctx); err != nil {
		return nil, err
	}
	if err := n.boot(ctx); err != nil {
		return nil, err
	}
	b.nodes = append(b.nodes, n)
	return n, nil
}

// Ready waits until every node serves, in the router's kernel and by its BFD.
func (b *network) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for _, n := range b.nodes {
		if err := n.answers(ctx); err != nil {
			return err
		}
	}
	return b.router.ready(ctx)
}

// Versions are those of the programs that take part, by the containers' word.
func (b *network) Versions(ctx context.Context) map[string]string {
	n, all := b.nodes[0], b.router.versions(ctx)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, n.box.version(ctx, "recuse", "recuse", "--version"))
	if b.options.AdGuardHome == "" {
		maps.Copy(all, n.box.version(ctx, "unbound", "unbound", "-V"))
	} else {
		maps.Copy(all, n.box.version(ctx, "adguardhome", "AdGuardHome", "--version"))
	}
	if out, err := b.daemon.client(ctx, "", "--version"); err == nil {
		all["incus"] = strings.TrimSpace(out)
	}
	return all
}

// Logs copies the hosts' configurations and logs into a directory.
func (b *network) Logs(dir string) error {
	for from, to := range map[string]string{
		filepath.Join(b.run.path, "hosts"):      dir,
		filepath.Join(b.run.path, "incusd.log"): filepath.Join(dir, "incusd.log"),
	} {
		if err := copyAll(from, to); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all of it.
func (b *network) Close() error {
	b.unhook()
	return b.close()
}

// tearDown ends the containers, incusd and the site, and removes what they had.
func (b *network) tearDown() error {
	var errs []error
	for _, n := range b.nodes {
		errs = append(errs, n.leave())
	}
	if b.router != nil {
		errs = append(errs, b.router.leave())
	}
	if b.daemon != nil {
		errs = append(errs, b.daemon.shutdown())
	}
	if b.run != nil {
		errs = append(errs, b.run.close())
	}
	if b.site != nil {
		errs = append(errs, b.site.Close())
	}
	return errors.Join(errs...)
}

// copyAll copies a file, or the files below a directory, readable by all.
func copyAll(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("failed to read log: %w", err)
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return fmt.Errorf("failed to make directory of logs: %w", err)
		}
		return os.WriteFile(target, text, 0o644)
	})
}
