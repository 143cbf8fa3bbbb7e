package netlinktest

import (
	"net/netip"

	"recuse/netlinkx"
)

// operator does by hand what an operator does to the box of a Fake.
type operator struct{ kernel *memory }

// operate does what op says, and fails the test if it cannot be done. edit, if
// any, changes the link afterwards.
func (o operator) operate(op netlinkx.Op, edit func(l *netlinkx.Link)) {
	m := o.kernel
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	op.Link = m.name
	if err := m.apply(op); err != nil {
		m.t.Errorf("netlinktest: operator cannot %s: %v, the state is:\n%s", op, err, m.render())
	} else if edit != nil {
		edit(&m.link)
	}
	m.changed = true
	m.wake()
}

// SetUp does `ip link set LINK up`.
func (o operator) SetUp() { o.operate(netlinkx.Op{Verb: netlinkx.SetLinkUp}, nil) }

// SetDown does `ip link set LINK down`.
func (o operator) SetDown() { o.operate(netlinkx.Op{Verb: netlinkx.SetLinkDown}, nil) }

// DeleteLink does `ip link delete LINK`.
func (o operator) DeleteLink() { o.operate(netlinkx.Op{Verb: netlinkx.DeleteLink}, nil) }

// AddLink does `ip link add LINK type KIND`, and sets the alias if it has one.
func (o operator) AddLink(kind, alias string) {
	op := netlinkx.Op{Verb: netlinkx.CreateLink, Kind: kind, Hardware: strangeMAC.String()}
	o.operate(op, func(l *netlinkx.Link) { l.Alias = alias })
}

// AddAddress does `ip address add ADDRESS dev LINK nodad`, so that an IPv6
// address is preferred.
func (o operator) AddAddress(p netip.Prefix) {
	o.operate(netlinkx.Op{Verb: netlinkx.AddAddress, Prefix: p}, func(l *netlinkx.Link) {
		l.Addresses[len(l.Addresses)-1].Right = p.Addr().Is4()
	})
}

// DeleteAddress does `ip address delete ADDRESS dev LINK`.
func (o operator) DeleteAddress(p netip.Prefix) {
	o.operate(netlinkx.Op{Verb: netlinkx.DeleteAddress, Prefix: p}, nil)
}

// Duplicate makes the kernel find that another host has the IPv6 address: it is
// no longer usable.
func (o operator) Duplicate(p netip.Prefix) {
	m := o.kernel
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.link.Addresses {
		a := &m.link.Addresses[i]
		a.Usable = a.Usable && a.Prefix != p
	}
	m.changed = true
	m.wake()
}

// DeleteGuard does `ip route delete unreachable ADDRESS`.
func (o operator) DeleteGuard(p netip.Prefix) {
	o.operate(netlinkx.Op{Verb: netlinkx.DeleteGuard, Prefix: p}, nil)
}

// String renders the whole state, as in
//
//	link anycast0 dummy up "recuse:dns"
//	  address 192.0.2.53/32
//	  address 2001:db8::53/128
//	unreachable 2001:db8::53/128
//
// with "tentative" and "preferred" after an address that is.
func (o operator) String() string {
	o.kernel.mu.Lock()
	defer o.kernel.mu.Unlock()
	return o.kernel.render()
}
