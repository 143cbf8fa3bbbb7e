package topology

import (
	"context"
	"fmt"
	"os/exec"
)

// routerConfig makes the configuration of one router out of the nodes' files.
func (l *Lab) routerConfig(ctx context.Context, router int) (string, error) {
	write := l.options.RouterConfig
	if write == nil {
		if l.options.Recuse == "" {
			return bare(l.options.Router), nil
		}
		write = func(router string, configs []string) (string, error) {
			return peering(ctx, l.options.Recuse, router, configs)
		}
	}
	configs := []string{}
	for _, n := range l.Nodes {
		path, err := n.configFor(router)
		if err != nil {
			return "", err
		}
		configs = append(configs, path)
	}
	text, err := write(l.options.Router, configs)
	if err != nil {
		return "", fmt.Errorf("failed to make router configuration: %w", err)
	}
	return text, nil
}

// peering asks the product for the router's side.
func peering(ctx context.Context, recuse, router string, configs []string) (string, error) {
	args := []string{"peering", "--router", router}
	for _, c := range configs {
		args = append(args, "-c", c)
	}
	out, err := exec.CommandContext(ctx, recuse, args...).Output()
	if e, ok := err.(*exec.ExitError); ok {
		return "", fmt.Errorf("failed to run recuse peering: %w: %s", err, e.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("failed to run recuse peering: %w", err)
	}
	return string(out), nil
}

// bare is the configuration of a router without peers.
func bare(router string) string {
	if router == BIRD {
		return "protocol device {}\n"
	}
	return "no zebra nexthop kernel enable\n"
}
