package topology

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
)

// BGP is the state of the router's BGP sessions by its own word, in lower case
// ("established", "active", ...), by the other end's address.
func (r *Router) BGP(ctx context.Context) (map[netip.Addr]string, error) {
	question, read := "show bgp summary json", frrBGP
	if r.Kind == BIRD {
		question, read = "show protocols all", birdBGP
	}
	out, err := r.Show(ctx, question)
	if err != nil {
		return nil, err
	}
	states, err := read(out)
	if err != nil {
		return nil, fmt.Errorf("failed to read BGP sessions of %s: %w: %q", r.ShortName, err, out)
	}
	return states, nil
}

// frrBGP reads `show bgp summary json`: by family, then by peer. A session is in
// it once for each family that it carries.
func frrBGP(out string) (map[netip.Addr]string, error) {
	var families map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &families); err != nil {
		return nil, err
	}
	states := map[netip.Addr]string{}
	for _, raw := range families {
		var family struct {
			Peers map[string]struct {
				State string `json:"state"`
			} `json:"peers"`
		}
		if json.Unmarshal(raw, &family) != nil {
			continue // a word beside the families
		}
		for peer, p := range family.Peers {
			if a, err := netip.ParseAddr(peer); err == nil {
				states[a] = strings.ToLower(p.State)
			}
		}
	}
	return states, nil
}

// birdBGP reads `show protocols all`: of each BGP protocol the lines of its
// state and its neighbour, in that order.
func birdBGP(out string) (map[netip.Addr]string, error) {
	states, state := map[netip.Addr]string{}, ""
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "BGP state":
			state = strings.ToLower(strings.TrimSpace(value))
		case "Neighbor address":
			a, err := netip.ParseAddr(strings.TrimSpace(value))
			if err != nil {
				return nil, err
			}
			states[a] = state
		}
	}
	return states, nil
}
