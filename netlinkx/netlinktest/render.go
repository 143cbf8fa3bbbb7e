package netlinktest

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"recuse/netlinkx"
)

// render renders the whole state; mu is held.
func (m *memory) render() string { return render(m.name, m.link, m.guards) }

// render renders one link and the guards, sorted.
func render(name string, l netlinkx.Link, guards []netip.Prefix) string {
	var b strings.Builder
	if l.Exists {
		fmt.Fprintf(&b, "link %s %s %s %q\n", name, l.Kind, map[bool]string{true: "up", false: "down"}[l.Up], l.Alias)
	}
	byPrefix := func(x, y netlinkx.Address) int { return comparePrefix(x.Prefix, y.Prefix) }
	for _, a := range slices.SortedFunc(slices.Values(l.Addresses), byPrefix) {
		fmt.Fprintf(&b, "  address %s", a.Prefix)
		if !a.Usable {
			b.WriteString(" tentative")
		}
		if !a.Right {
			b.WriteString(" preferred")
		}
		b.WriteString("\n")
	}
	for _, p := range slices.SortedFunc(slices.Values(guards), comparePrefix) {
		fmt.Fprintf(&b, "unreachable %s\n", p)
	}
	return b.String()
}

// comparePrefix orders prefixes by address.
func comparePrefix(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}
