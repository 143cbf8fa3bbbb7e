package topology

import "context"

// recuseAgent is this project's agent.
type recuseAgent struct{ options Options }

// Name is recuse's name.
func (a *recuseAgent) Name() string { return "recuse" }

// Install writes the node's recuse.yaml. In a lab without the binary that is
// all.
func (a *recuseAgent) Install(_ context.Context, n *Node) ([]*Process, error) {
	if err := n.writeConfig(a.options); err != nil || a.options.Recuse == "" {
		return nil, err
	}
	n.Agent = n.Add("recuse", func() []string {
		return []string{a.options.Recuse, "run", "-c", n.Path(ConfigFile)}
	})
	return []*Process{n.Agent}, nil
}

// RouterConfig asks the product for the router's side, from the nodes' files;
// in a lab without it the router has no peers.
func (a *recuseAgent) RouterConfig(ctx context.Context, r *Router, nodes []*Node) (string, error) {
	if a.options.Recuse == "" && a.options.RouterConfig == nil {
		return Bare(r.Kind), nil
	}
	configs := []string{}
	for _, n := range nodes {
		path, err := n.configFor(r.Number)
		if err != nil {
			return "", err
		}
		configs = append(configs, path)
	}
	if write := a.options.RouterConfig; write != nil {
		return write(r.Kind, configs)
	}
	return peering(ctx, a.options.Recuse, r.Kind, configs)
}

// Settings tell what differs from recuse's defaults.
func (a *recuseAgent) Settings() []string {
	if a.options.BFD == nil {
		return []string{"recuse: default settings, no BFD"}
	}
	return []string{"recuse: BFD " + a.options.BFD.String()}
}

// Versions asks the binary.
func (a *recuseAgent) Versions(ctx context.Context) map[string]string {
	return version(ctx, "recuse", a.options.Recuse, "--version")
}
