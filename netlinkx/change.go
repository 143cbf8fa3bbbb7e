package netlinkx

import (
	"errors"
	"net/netip"
	"slices"
)

// SetAddresses makes the Holder hold another set of addresses. Those that are
// not in it any more go at once, from the link and from its unreachable routes;
// new ones come with the next Ensure and Raise. It claims the new ones first
// and fails, with nothing changed, if another agent has one of them. The old
// ones are free for other agents once they are off the box.
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
	if h.locks != nil {
		if err := h.locks.take(h.kernel, addressNames(next.Addresses)); err != nil {
			return h.lockFailed(err)
		}
	}
	h.config = next
	if err := h.drop(gone); err != nil {
		return err
	}
	return h.locks.release(addressNames(gone.Addresses))
}

// without returns the addresses that are not in the other list.
func without(list, other []netip.Prefix) []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(list), func(p netip.Prefix) bool {
		return slices.Contains(other, p)
	})
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
