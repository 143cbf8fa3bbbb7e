package netlinkx

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// bears says whether l is a link that an agent made for c's service, whatever
// its name.
func bears(c Config, l Link) bool {
	made := l.Kind == KindDummy || l.Kind == KindIFB || l.Kind == KindBridge
	return made && (l.Alias == c.alias() || halfMade(c, l))
}

// Adopt takes over what an earlier run left, however that ended, and leaves
// exactly what is configured: the service's links of other names go, and so do
// the addresses on its link that are not configured, by whomever they were put
// there. The link itself is left up or down. What an agent that runs has
// claimed is left alone. Then it does what Ensure does.
func (h *Holder) Adopt() error {
	links, err := h.kernel.Links()
	if err != nil {
		return err
	}
	for _, l := range links {
		if !bears(h.config, l) {
			continue
		}
		if h.config.made() && l.Name == h.config.Link {
			err = h.apply(planExact(h.config, l))
		} else {
			err = h.discard(l)
		}
		if err != nil {
			return err
		}
	}
	return h.Ensure()
}

// planExact returns the steps to a link without addresses that are not
// configured.
func planExact(c Config, l Link) []Op {
	if own(c, l) != nil {
		return nil
	}
	var ops []Op
	for _, a := range l.Addresses {
		if !slices.Contains(c.Addresses, a.Prefix) {
			ops = append(ops, Op{Verb: DeleteAddress, Link: l.Name, Index: l.Index, Prefix: a.Prefix})
		}
	}
	return ops
}

// discard deletes a link that an earlier run left under another name, unless
// an agent that runs has it.
func (h *Holder) discard(l Link) error {
	return h.ifFree(linkName(l.Name), Op{Verb: DeleteLink, Link: l.Name, Index: l.Index})
}

// ifFree does a step with what nobody has claimed, and holds the claim
// meanwhile.
func (h *Holder) ifFree(name string, op Op) error {
	lock, err := h.kernel.Lock(name)
	if errors.Is(err, ErrInUse) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(h.apply([]Op{op}), lock.Close())
}

// Sweep takes away the unreachable routes that an earlier run left for
// addresses which are not among these, all of this agent's. Those of an address
// that some link bears, or another agent has claimed, are left alone: they may
// be of a service that keeps its link while its agent is away.
func (h *Holder) Sweep(addresses []netip.Prefix) error {
	guards, err := h.kernel.Guards()
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EAFNOSUPPORT) {
		return nil // no IPv6 here
	}
	if err != nil {
		return err
	}
	stale := without(guards, addresses)
	if len(stale) == 0 {
		return nil
	}
	links, err := h.kernel.Links()
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range stale {
		if slices.ContainsFunc(links, func(l Link) bool {
			_, found := l.address(p)
			return found
		}) {
			continue
		}
		if err := h.ifFree(addressName(p), Op{Verb: DeleteGuard, Prefix: p}); err != nil {
			errs = append(errs, fmt.Errorf("failed to sweep up after an earlier run: %w", err))
		}
	}
	return errors.Join(errs...)
}
