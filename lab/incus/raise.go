package incus

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"recuse/lab/topology"
)

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
