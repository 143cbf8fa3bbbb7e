package topology

import (
	"fmt"
	"net/netip"
	"os"

	"go.yaml.in/yaml/v3"
)

// AgentLink is the name of the interface that holds the service addresses.
const AgentLink = "anycast0"

// ServiceName is the name of the one service in a node's recuse.yaml.
const ServiceName = "dns"

// Files of a node that tests may change between two starts of its agent.
const (
	ConfigFile   = "recuse.yaml"
	PasswordFile = "bgp-password"
)

// config is the node's recuse.yaml as a tree, before Options.Configure.
func (n *Node) config(o Options) map[string]any {
	addresses := make([]string, len(o.Addresses))
	for i, a := range o.Addresses {
		addresses[i] = a.String()
	}
	peers := make([]any, o.Routers)
	for i := range peers {
		peers[i] = n.peer(o, i+1)
	}
	return map[string]any{
		"node":      n.ShortName,
		"state_dir": n.Path("state"),
		"control":   map[string]any{"socket": n.Path("recuse.sock")},
		"bgp":       map[string]any{"asn": n.ASN, "router_id": n.V4.String(), "peers": peers},
		"services": []any{map[string]any{
			"name":      ServiceName,
			"addresses": addresses,
			"link":      map[string]any{"name": AgentLink, "kind": n.LinkKind},
			"checks": []any{map[string]any{
				"name": "local-name",
				"dns": map[string]any{
					"server": netip.AddrPortFrom(n.askAt, dnsPort).String(),
					"name":   "{random}.lan",
					"type":   "A",
					"rcode":  []string{"NOERROR", "NXDOMAIN"},
					"soa":    "lan",
				},
			}},
		}},
	}
}

// peer is the session with one router.
func (n *Node) peer(o Options, router int) map[string]any {
	p := map[string]any{
		"address":   nodeNet.v4(router).String(),
		"asn":       RouterASN,
		"hold_time": o.HoldTime.String(),
	}
	if o.Password != "" {
		p["password_file"] = n.Path(PasswordFile)
	}
	if o.TTLSecurity {
		p["ttl_security"] = true
	}
	if o.BFD != nil {
		p["bfd"] = o.BFD.tree()
	}
	return p
}

// writeConfig writes the node's recuse.yaml and what it names.
func (n *Node) writeConfig(o Options) error {
	if o.Password != "" {
		if err := n.WriteFile(PasswordFile, o.Password+"\n"); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(n.Path("state"), 0o755); err != nil {
		return fmt.Errorf("failed to make state directory of %s: %w", n.ShortName, err)
	}
	tree := n.config(o)
	if o.Configure != nil {
		o.Configure(n.Index, tree)
	}
	if err := n.WriteConfig(ConfigFile, tree); err != nil {
		return err
	}
	n.tree = tree
	return nil
}

// Reconfigure changes the node's recuse.yaml. A running agent is not told.
func (n *Node) Reconfigure(change func(config map[string]any)) error {
	change(n.tree)
	return n.WriteConfig(ConfigFile, n.tree)
}

// WriteConfig writes a configuration tree to a file of the node.
func (n *Node) WriteConfig(name string, tree map[string]any) error {
	text, err := yaml.Marshal(tree)
	if err != nil {
		return fmt.Errorf("failed to encode %s of %s: %w", name, n.ShortName, err)
	}
	return n.WriteFile(name, string(text))
}

// configFor writes the node's configuration as far as it concerns one router
// and returns its path: the sessions with other routers are left out.
func (n *Node) configFor(router int) (string, error) {
	bgp, _ := n.tree["bgp"].(map[string]any)
	peers, _ := bgp["peers"].([]any)
	var kept []any
	for _, p := range peers {
		m, _ := p.(map[string]any)
		if a := fmt.Sprint(m["address"]); a == nodeNet.v4(router).String() || a == nodeNet.v6(router).String() {
			kept = append(kept, p)
		}
	}
	tree := shallow(n.tree)
	tree["bgp"] = shallow(bgp)
	tree["bgp"].(map[string]any)["peers"] = kept
	name := fmt.Sprintf("peering-r%d.yaml", router)
	return n.Path(name), n.WriteConfig(name, tree)
}

// shallow copies one level of a tree.
func shallow(m map[string]any) map[string]any {
	c := make(map[string]any, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}
