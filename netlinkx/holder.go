package netlinkx

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// Holder holds the addresses of one service on one link. It belongs to one
// goroutine. Every operation reads the kernel first and writes only what is
// missing, so each may be repeated at any time.
type Holder struct {
	config Config
	kernel Kernel
	locks  locks // nil while not locked
}

// NewHolder returns a Holder for c in the network namespace of the calling
// thread. It changes nothing. It fails on a configuration that Validate
// refuses, and where no netlink socket can be had.
func NewHolder(c Config) (*Holder, error) {
	k, err := NewKernel()
	if err != nil {
		return nil, err
	}
	return On(c, k)
}

// On returns a Holder for c that works on k. It fails on a configuration that
// Validate refuses.
func On(c Config, k Kernel) (*Holder, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Addresses = slices.Clone(c.Addresses)
	return &Holder{config: c, kernel: k}, nil
}

// Lock claims the link and the service addresses for this process within the
// network namespace, until Remove, Release or the process's end. A link that somebody
// else made may carry other services' addresses too, so of that only the
// addresses are claimed. It fails with an ErrInUse if another agent, or another
// Holder of this process, has one of them.
func (h *Holder) Lock() error {
	if h.locks != nil {
		return nil
	}
	names := addressNames(h.config.Addresses)
	if h.config.made() {
		names = append([]string{linkName(h.config.Link)}, names...)
	}
	held := locks{}
	if err := held.take(h.kernel, names); err != nil {
		return h.lockFailed(err)
	}
	h.locks = held
	return nil
}

// linkName is the name by which a link is claimed.
func linkName(link string) string { return "link/" + link }

// addressName is the name by which an address is claimed.
func addressName(p netip.Prefix) string { return "address/" + p.Addr().String() }

// addressNames are those of several.
func addressNames(list []netip.Prefix) []string {
	var names []string
	for _, p := range list {
		names = append(names, addressName(p))
	}
	return names
}

// lockFailed says what was to be locked, and the way out.
func (h *Holder) lockFailed(err error) error {
	if errors.Is(err, ErrInUse) {
		return fmt.Errorf("failed to lock link %q for service %q: %w; end the other recuse, or "+
			"give this service a link and addresses of its own", h.config.Link, h.config.Service, err)
	}
	return fmt.Errorf("failed to lock link %q for service %q: %w", h.config.Link,
		h.config.Service, err)
}

// Observe returns what the kernel says of the link now. A link of that name
// that is not ours is an ErrForeign, and its state is true all the same.
func (h *Holder) Observe() (State, error) {
	l, err := h.kernel.Link(h.config.Link)
	if err != nil {
		return State{}, err
	}
	return observe(h.config, l), own(h.config, l)
}

// Ensure makes the link, down and marked as ours, if there is none, and the
// unreachable IPv6 routes. A link of ours is left as it is, up or down. It is
// cheap when nothing is missing, and worth a call from time to time: network
// managers are known to delete routes that they did not make.
func (h *Holder) Ensure() error { return h.reach(planEnsure) }

// Raise does what Ensure does, sets the link up and puts the addresses on it.
// A link that is not made by us is only given the addresses.
func (h *Holder) Raise() error { return h.reach(planRaise) }

// Lower sets the link down. Off a link that is not made by us it takes the
// addresses. The unreachable routes stay.
func (h *Holder) Lower() error {
	l, err := h.kernel.Link(h.config.Link)
	if err != nil {
		return err
	}
	ops, err := planLower(h.config, l)
	if err != nil {
		return err
	}
	return h.apply(ops)
}

// Remove deletes the link if it is ours, takes the addresses off it if it is
// not, takes the unreachable routes away and gives up the lock. A failure of
// one does not keep it from the others; all are returned, joined.
func (h *Holder) Remove() error {
	l, errLink := h.kernel.Link(h.config.Link)
	guards, errGuards := h.guards()
	errs := []error{errLink, errGuards}
	for _, op := range planRemove(h.config, l, guards) {
		errs = append(errs, h.apply([]Op{op}))
	}
	return errors.Join(append(errs, h.Release())...)
}

// Release gives up the lock and leaves the link, the addresses and the routes
// as they are.
func (h *Holder) Release() error {
	err := h.locks.release(slices.Collect(maps.Keys(h.locks)))
	h.locks = nil
	return err
}

// reach reads the kernel's state and applies what plan makes of it.
func (h *Holder) reach(plan func(Config, Link, []netip.Prefix) ([]Op, error)) error {
	l, err := h.kernel.Link(h.config.Link)
	if err != nil {
		return err
	}
	guards, err := h.guards()
	if err != nil {
		return err
	}
	ops, err := plan(h.config, l, guards)
	if err != nil {
		return err
	}
	return h.apply(ops)
}

// guards reads the unreachable routes, unless the service needs none: then the
// kernel may have no IPv6 at all.
func (h *Holder) guards() ([]netip.Prefix, error) { return h.guardsOf(h.config) }

// guardsOf reads them if this configuration needs any.
func (h *Holder) guardsOf(c Config) ([]netip.Prefix, error) {
	if len(c.guards()) == 0 {
		return nil, nil
	}
	return h.kernel.Guards()
}

// apply does ops in order, up to the first that fails.
func (h *Holder) apply(ops []Op) error {
	for _, op := range ops {
		if err := h.kernel.Apply(op); err != nil && !settled(op, err) {
			return explain(op, err)
		}
	}
	return nil
}
