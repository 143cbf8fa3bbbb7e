package netlinktest

import (
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	"recuse/netlinkx"
)

// apply changes the state by op as the kernel would, and refuses besides what
// would change nothing. mu is held.
func (m *memory) apply(op netlinkx.Op) error {
	switch op.Verb {
	case netlinkx.CreateLink:
		return m.create(op)
	case netlinkx.AddGuard, netlinkx.DeleteGuard:
		return m.applyGuard(op)
	}
	if !m.link.Exists || op.Link != m.name || op.Index != 0 && op.Index != m.link.Index {
		return unix.ENODEV
	}
	switch op.Verb {
	case netlinkx.MarkLink:
		return m.mark(op.Alias)
	case netlinkx.SetLinkUp:
		return m.setFlags(true)
	case netlinkx.SetLinkDown:
		return m.setFlags(false)
	case netlinkx.DeleteLink:
		m.link = netlinkx.Link{}
		return nil
	}
	return m.applyAddress(op)
}

// create makes the link, down.
func (m *memory) create(op netlinkx.Op) error {
	if m.link.Exists {
		return unix.EEXIST
	}
	if op.Link != m.name || op.Kind == "" || op.Hardware == "" {
		return unix.EINVAL
	}
	m.indexes++
	m.link = netlinkx.Link{Exists: true, Index: m.indexes, Kind: op.Kind, Hardware: op.Hardware}
	return nil
}

// mark sets the alias.
func (m *memory) mark(alias string) error {
	if m.link.Alias == alias {
		return unix.EALREADY
	}
	m.link.Alias = alias
	return nil
}

// setFlags sets the link up, or down and without its IPv6 addresses.
func (m *memory) setFlags(up bool) error {
	if m.link.Up == up {
		return unix.EALREADY
	}
	m.link.Up = up
	if !up {
		m.link.Addresses = slices.DeleteFunc(m.link.Addresses, func(a netlinkx.Address) bool {
			return a.Prefix.Addr().Is6()
		})
	}
	return nil
}

// applyAddress adds, renews or deletes an address.
func (m *memory) applyAddress(op netlinkx.Op) error {
	i := slices.IndexFunc(m.link.Addresses, func(a netlinkx.Address) bool { return a.Prefix == op.Prefix })
	fresh := netlinkx.Address{Prefix: op.Prefix, Usable: true, Right: true}
	switch {
	case op.Verb == netlinkx.AddAddress && i >= 0:
		return unix.EEXIST
	case op.Verb == netlinkx.AddAddress:
		m.link.Addresses = append(m.link.Addresses, fresh)
		return nil
	case op.Verb == netlinkx.RepairAddress && i >= 0 && m.link.Addresses[i] != fresh:
		m.link.Addresses[i] = fresh
		return nil
	case op.Verb == netlinkx.DeleteAddress && i >= 0:
		m.link.Addresses = slices.Delete(m.link.Addresses, i, i+1)
		return nil
	case op.Verb == netlinkx.DeleteAddress:
		return unix.EADDRNOTAVAIL
	}
	return unix.EINVAL // no verb that is known, or a repair of what is right
}

// applyGuard adds or deletes an unreachable route.
func (m *memory) applyGuard(op netlinkx.Op) error {
	has := slices.Contains(m.guards, op.Prefix)
	switch {
	case !op.Prefix.Addr().Is6():
		return unix.EINVAL
	case op.Verb == netlinkx.AddGuard && has:
		return unix.EEXIST
	case op.Verb == netlinkx.AddGuard:
		m.guards = append(m.guards, op.Prefix)
		return nil
	case !has:
		return unix.ESRCH
	}
	m.guards = slices.DeleteFunc(m.guards, func(p netip.Prefix) bool { return p == op.Prefix })
	return nil
}
