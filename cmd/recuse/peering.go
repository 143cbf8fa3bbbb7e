package main

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"recuse/agent/config"
	"recuse/bgp"
	"recuse/deploy/routers"
)

// peeringCommand writes the router's side of the sessions.
func peeringCommand() *cobra.Command {
	var paths []string
	var router, peer string
	c := &cobra.Command{
		Use:   "peering -c FILE... --router NAME",
		Short: "write the router's side of the configuration",
		Long: "Read the configuration of every node and write what the router " +
			"needs: sessions, filters, ECMP. Routers: " +
			strings.Join(routers.Names(), ", ") + ".",
		RunE: func(c *cobra.Command, more []string) error {
			text, err := peering(append(paths, more...), router, peer)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.OutOrStdout(), text)
			return err
		},
	}
	c.Flags().StringArrayVarP(&paths, "config", "c", nil,
		"a node's configuration file; several may follow")
	c.Flags().StringVar(&router, "router", "", "the router's kind")
	c.Flags().StringVar(&peer, "peer", "",
		"the router's address, where the nodes have several routers")
	usageErrors(c)
	return c
}

// peering renders the text for one router.
func peering(paths []string, router, peer string) (string, error) {
	if len(paths) == 0 {
		return "", fmt.Errorf("%w: name the nodes' files with -c", errUsage)
	}
	var only netip.Addr
	if peer != "" {
		var err error
		if only, err = netip.ParseAddr(peer); err != nil {
			return "", fmt.Errorf("%w: --peer: %w", errUsage, err)
		}
	}
	var nodes []routers.Node
	var errs []error
	for _, path := range paths {
		conf, err := load(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sessions, err := sessionsOf(conf, only)
		nodes, errs = append(nodes, sessions...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	text, err := routers.Render(router, nodes)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUsage, err)
	}
	return text, nil
}

// sessionsOf are the sessions of one node with the router: all of them, or
// those with the peer that was named.
func sessionsOf(c *config.Config, only netip.Addr) ([]routers.Node, error) {
	var list []routers.Node
	for i, p := range c.BGP.Peers {
		if only.IsValid() && p.Address != only {
			continue
		}
		local, err := nodeAddress(c, i)
		if err != nil {
			return nil, err
		}
		list = append(list, sessionOf(c, p, local))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %s has no peer %s", errUsage, c.Path, only)
	}
	return list, nil
}

// sessionOf translates one session to the router's view.
func sessionOf(c *config.Config, p bgp.Peer, local netip.Addr) routers.Node {
	n := routers.Node{
		Name: c.Node, ASN: c.BGP.ASN, RouterASN: p.ASN,
		Address: local, RouterAddress: p.Address, Port: p.Port,
		Password: p.Password, TTLSecurity: p.TTLSecurity,
		Multihop: p.Multihop, HoldTime: p.HoldTime,
	}
	for _, s := range c.Services {
		n.Prefixes = append(n.Prefixes, s.Routes()...)
	}
	if b := p.BFD; b != nil {
		n.BFD = &routers.BFD{Interval: b.Interval, Multiplier: b.Multiplier}
	}
	return n
}

// nodeAddress is the node's end of a session. The file must say it, since this
// may run on any machine: as the peer's local_address, or for the first IPv4
// peer as the router-id, which is the local address towards that one by default.
func nodeAddress(c *config.Config, i int) (netip.Addr, error) {
	p := c.BGP.Peers[i]
	first := slices.IndexFunc(c.BGP.Peers, func(p bgp.Peer) bool {
		return p.Address.Is4()
	})
	switch {
	case p.LocalAddress.IsValid():
		return p.LocalAddress, nil
	case i == first && c.BGP.RouterID.IsValid():
		return c.BGP.RouterID, nil
	}
	way := "set it to this node's address on that session"
	switch {
	case i == first:
		way += " (for the first IPv4 peer, bgp.router_id serves too)"
	case first >= 0 && c.BGP.RouterID.IsValid():
		way += fmt.Sprintf(", or write the first router's side alone with "+
			"--peer %s; bgp.router_id stands for the address towards that one "+
			"only", c.BGP.Peers[first].Address)
	}
	return netip.Addr{}, fmt.Errorf("%w: %s: bgp.peers[%d].local_address: "+
		"missing for peer %s, so the router's side of this session is not "+
		"known; %s", errUsage, c.Path, i, p.Address, way)
}
