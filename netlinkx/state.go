package netlinkx

import "net/netip"

// State is what the kernel says of a service's link.
type State struct {
	Exists  bool
	Up      bool           // IFF_UP; neither carrier nor operational state
	Present []netip.Prefix // usable service addresses, in the order of Config
}

// observe reduces l to what concerns c.
func observe(c Config, l Link) State {
	s := State{Exists: l.Exists, Up: l.Up}
	for _, p := range c.Addresses {
		if a, found := l.address(p); found && a.Usable {
			s.Present = append(s.Present, p)
		}
	}
	return s
}
