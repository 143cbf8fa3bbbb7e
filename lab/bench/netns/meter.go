package netns

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"recuse/lab/bench"
)

// The node's own nftables. The counters stand at the first and the last place
// that a packet passes, so that they see what the firewall behind them drops.
const meterRules = `table inet lab {
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

// meter starts to count what passes the node's interface.
func (n *node) meter() error { return n.NFT(context.Background(), "meter.nft", meterRules) }

// DropClients makes the node's firewall drop what clients send to port 53.
func (n *node) DropClients(ctx context.Context, drop bool) error {
	rules := "flush chain inet lab firewall\n"
	if drop {
		four, six := n.bench.lab.ClientRanges()
		for _, from := range []string{"ip saddr " + four, "ip6 saddr " + six} {
			rules += "add rule inet lab firewall " + from +
				" meta l4proto { tcp, udp } th dport 53 counter name dropped drop\n"
		}
	}
	return n.NFT(ctx, "firewall.nft", rules)
}

// Seen reads the counters.
func (n *node) Seen(ctx context.Context) (bench.Traffic, error) {
	out, err := n.Run(ctx, "nft", "-j", "list", "counters", "table", "inet", "lab")
	if err != nil {
		return bench.Traffic{}, err
	}
	counts, err := counters(out)
	if err != nil {
		return bench.Traffic{}, fmt.Errorf("failed to read counters of %s: %w: %q", n.ShortName, err, out)
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
