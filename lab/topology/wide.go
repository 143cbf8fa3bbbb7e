package topology

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
)

// noWide takes the rules of CutWide away, whether they are there or not.
const noWide = "table inet wide {}\ndelete table inet wide\n"

// CutWide cuts the first router off from the internet, as a provider's outage
// does: its link stays up and what it sends is lost. The home's own zone is
// served at home and stays. The kernel counts what it loses.
func (l *Lab) CutWide(ctx context.Context, cut bool) error {
	rules := noWide
	if cut {
		rules += wideRules()
	}
	return l.Router.NFT(ctx, "wide.nft", rules)
}

// wideRules drop all that comes from or goes to the internet's addresses.
func wideRules() string {
	var b strings.Builder
	b.WriteString("table inet wide {\n")
	for _, hook := range []string{"input", "forward", "output"} {
		fmt.Fprintf(&b, "\tchain %s {\n\t\ttype filter hook %s priority -300;\n", hook, hook)
		for _, p := range wideNet.addresses(internetHost) {
			for _, end := range []string{"saddr", "daddr"} {
				fmt.Fprintf(&b, "\t\t%s %s %s counter drop\n", nftFamily(p.Addr()), end, p.Addr())
			}
		}
		b.WriteString("\t}\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// nftFamily is how nft calls the header that holds such an address.
func nftFamily(a netip.Addr) string {
	if a.Is4() {
		return "ip"
	}
	return "ip6"
}
