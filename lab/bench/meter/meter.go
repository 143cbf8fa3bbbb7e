// Package meter counts and drops the DNS packets of a host by its kernel's own
// rules: the proof of who served whom, also of a host whose processes are
// frozen.
package meter

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"recuse/lab/bench"
	"recuse/lab/topology"
)

// rules are a node's own nftables. The counters stand at the first and the last
// place that a packet passes, so that they see what the firewall behind them
// drops.
const rules = `table inet lab {
	counter queries {}
	counter answers {}
	counter dropped {}
	chain arrive {
		type filter hook prerouting priority -310;
		iifname "lan0" meta l4proto { tcp, udp } th dport 53 counter name queries
	}
	chain leave {
		type filter hook postrouting priority 310;
		oifname "lan0" meta l4proto { tcp, udp } th sport 53 counter name answers
	}
	chain firewall {
		type filter hook input priority 0;
	}
}
`

// Start starts to count what passes the host's interface.
func Start(ctx context.Context, h *topology.Host) error { return h.NFT(ctx, "meter.nft", rules) }

// Drop makes the host's firewall drop what comes from these addresses (as nft
// writes them) to port 53; from none it drops nothing.
func Drop(ctx context.Context, h *topology.Host, from ...string) error {
	rules := "flush chain inet lab firewall\n"
	for _, addresses := range from {
		family := "ip"
		if strings.Contains(addresses, ":") {
			family = "ip6"
		}
		rules += "add rule inet lab firewall " + family + " saddr " + addresses +
			" meta l4proto { tcp, udp } th dport 53 counter name dropped drop\n"
	}
	return h.NFT(ctx, "firewall.nft", rules)
}

// Read reads the counters.
func Read(ctx context.Context, h *topology.Host) (bench.Traffic, error) {
	out, err := h.Run(ctx, "nft", "-j", "list", "counters", "table", "inet", "lab")
	if err != nil {
		return bench.Traffic{}, err
	}
	counts, err := counters(out)
	if err != nil {
		return bench.Traffic{}, fmt.Errorf("failed to read counters of %s: %w: %q", h.ShortName, err, out)
	}
	return bench.Traffic{Queries: counts["queries"], Answers: counts["answers"], Dropped: counts["dropped"]}, nil
}

// counters reads the packets of the named counters that `nft -j list counters`
// prints.
func counters(text string) (map[string]int, error) {
	var list struct {
		Nftables []struct {
			Counter *struct {
				Name    string `json:"name"`
				Packets int    `json:"packets"`
			} `json:"counter"`
		} `json:"nftables"`
	}
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&list); err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, e := range list.Nftables {
		if e.Counter != nil {
			counts[e.Counter.Name] = e.Counter.Packets
		}
	}
	return counts, nil
}
