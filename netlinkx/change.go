package netlinkx

import (
	"errors"
	"net/netip"
	"slices"
)

// SetAddresses makes the Holder hold another set of addresses. Those that are
// not in it any more go at once, from the link and from its unreachable routes;
// new ones come with the next Ensure and Raise. It claims the new ones first
// and fails, with nothing changed, if another agent has one of them.
//
// An address that is announced must be withdrawn before.
func (h *Holder) SetAddresses(addresses []netip.Prefix) error {
	next := h.config
	next.Addresses = slices.Clone(addresses)
	if err := next.Validate(); err != nil {
		return err
	}
	gone := h.config
	gone.Addresses = without(h.config.Addresses, next.Addresses)
	if err := h.claim(without(next.Addresses, h.config.Addresses)); err != nil {
		return err
	}
	h.config = next
	return h.drop(gone)
}

// without returns the addresses that are not in the other list.
func without(list, other []netip.Prefix) []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(list), func(p netip.Prefix) bool {
		return slices.Contains(other, p)
	})
}

// claim takes more addresses, if the Holder holds its lock. The names of those
// that are dropped stay claimed until Remove: nobody else wants them at once.
func (h *Holder) claim(more []netip.Prefix) error {
	var names []string
	for _, p := range more {
		if name := addressName(p); !slices.Contains(h.names, name) {
			names = append(names, name)
		}
	}
	if h.lock == nil || len(names) == 0 {
		return nil
	}
	lock, err := h.kernel.Lock(names)
	if err != nil {
		return h.lockFailed(err)
	}
	h.lock, h.names = closers{h.lock, lock}, append(h.names, names...)
	return nil
}

// drop takes addresses off the link and their unreachable routes away. A
// failure of one does not keep it from the others.
func (h *Holder) drop(gone Config) error {
	l, err := h.kernel.Link(h.config.Link)
	if err != nil {
		return err
	}
	guards, err := h.guardsOf(gone)
	if err != nil {
		return err
	}
	var errs []error
	for _, op := range planDrop(gone, l, guards) {
		errs = append(errs, h.apply([]Op{op}))
	}
	return errors.Join(errs...)
}

// planDrop returns the steps to a link of ours without these addresses and
// without their guards.
func planDrop(gone Config, l Link, guards []netip.Prefix) []Op {
	var ops []Op
	if own(gone, l) == nil {
		ops = planStrip(gone, l)
	}
	return append(ops, planUnguard(gone, guards)...)
}
