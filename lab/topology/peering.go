package topology

import (
	"context"
	"fmt"
	"os/exec"
)

// routerConfig makes the configuration of one router for all nodes, those to
// come included.
func (l *Lab) routerConfig(ctx context.Context, r *Router) (string, error) {
	text, err := l.agent.RouterConfig(ctx, r, l.known)
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
	out, err := output(ctx, append([]string{recuse}, args...)...)
	if err != nil {
		return "", fmt.Errorf("failed to run recuse peering: %w", err)
	}
	return out, nil
}

// output runs a command outside of all namespaces and returns what it printed.
func output(ctx context.Context, argv ...string) (string, error) {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
	if e, ok := err.(*exec.ExitError); ok {
		return "", fmt.Errorf("%w: %s", err, e.Stderr)
	}
	return string(out), err
}

// Bare is the configuration of a router without peers.
func Bare(router string) string {
	if router == BIRD {
		return "protocol device {}\n"
	}
	return "no zebra nexthop kernel enable\n"
}
