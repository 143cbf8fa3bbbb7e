package topology

import "context"

// Agent is a program, or several, that make a node announce the service
// addresses while its resolver is fit. recuse is one; a lab with
// Options.Agent has another in its place. One value serves all nodes.
type Agent interface {
	// Name is how a report calls it: recuse, exabgp, frr-script, ...
	Name() string
	// Install writes the node's files and describes its processes (Host.Add) in
	// the order of their start, without starting any. It is called once a node,
	// when the network and the resolver's configuration are there and nothing
	// runs yet. It may change the node's kernel (Host.Run, Node.Hold).
	Install(ctx context.Context, n *Node) ([]*Process, error)
	// RouterConfig is the configuration of a router (its Kind says for which
	// daemons) that takes these nodes' routes: for FRR what vtysh -f loads, for
	// BIRD a bird.conf. Files that Install wrote are there.
	RouterConfig(ctx context.Context, r *Router, nodes []*Node) (string, error)
	// Settings are those that count, a line each, for a report.
	Settings() []string
	// Versions are those of the agent's programs, by name.
	Versions(ctx context.Context) map[string]string
}

// What an Agent finds in a Node: Addresses (of the service), Gateways (the
// routers' addresses on the nodes' net), RouterASN, ASN, V4, V6, LinkKind, and
// the resolver on port 53 of every address.
