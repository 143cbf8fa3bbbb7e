package netlinkx

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// What no retry mends until somebody changes the box or the configuration.
var (
	ErrForeign = errors.New("not ours to touch")
	ErrInUse   = errors.New("in use by another process")
	ErrNoIPv6  = errors.New("no IPv6 here")
	ErrNoKind  = errors.New("kernel has no such kind of link")
	ErrNoLink  = errors.New("no such link")
)

// ForeignError says that the link's name is taken by a link that was not made
// for the service. It is an ErrForeign.
type ForeignError struct {
	Link, Want, Alias string // Want and Alias are the alias expected and found
}

// Error names the link and the ways out.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("link %q: %v: its alias is %q, not %q; choose another link.name, "+
		"or delete it with \"ip link delete %s\"", e.Link, ErrForeign, e.Alias, e.Want, e.Link)
}

// Unwrap returns ErrForeign.
func (e *ForeignError) Unwrap() error { return ErrForeign }

// InUseError says that a name is locked by another process. It is an ErrInUse.
type InUseError struct {
	Name string // such as "link/anycast0"
	PID  int    // the process that has it, 0 if unknown
}

// Error names what is locked and, if known, by which process.
func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is %v", e.Name, ErrInUse)
	}
	return fmt.Sprintf("%s is %v, pid %d", e.Name, ErrInUse, e.PID)
}

// Unwrap returns ErrInUse.
func (e *InUseError) Unwrap() error { return ErrInUse }

// settled says whether err means that somebody else did op's work first.
func settled(op Op, err error) bool {
	switch op.Verb {
	case AddAddress, AddGuard:
		return errors.Is(err, unix.EEXIST)
	case DeleteAddress:
		return errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.ENODEV)
	case DeleteGuard:
		return errors.Is(err, unix.ESRCH)
	case DeleteLink, SetLinkDown:
		return errors.Is(err, unix.ENODEV)
	}
	return false
}

// explain returns op's failure with what to do about it. Whatever went wrong,
// errors.Is finds the kernel's error number in it.
func explain(op Op, err error) error {
	err = fmt.Errorf("failed to %s: %w", op, err)
	ipv6 := op.Prefix.IsValid() && op.Prefix.Addr().Is6()
	switch {
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("%w: it takes CAP_NET_ADMIN: run recuse as root, or with "+
			"AmbientCapabilities=CAP_NET_ADMIN in its systemd unit", err)
	case op.Verb == CreateLink && errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("%w: %w %q: %s", err, ErrNoKind, op.Kind, wayOut(op.Kind))
	case ipv6 && errors.Is(err, unix.EACCES):
		return fmt.Errorf("%w: %w: set sysctl net.ipv6.conf.%s.disable_ipv6=0 (and "+
			"net.ipv6.conf.all, .default), or leave out the IPv6 service addresses",
			err, ErrNoIPv6, nameOr(op.Link, "lo"))
	case ipv6 && (errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EOPNOTSUPP)):
		return fmt.Errorf("%w: %w: boot the kernel without ipv6.disable=1, or leave out "+
			"the IPv6 service addresses", err, ErrNoIPv6)
	}
	return err
}

// wayOut says what to do about a kernel without the kind.
func wayOut(kind string) string {
	switch kind {
	case KindDummy:
		return `load it with "modprobe dummy", or set kind: ifb or kind: bridge`
	case KindIFB:
		return `load it with "modprobe ifb", or set kind: bridge`
	}
	return fmt.Sprintf(`load it with "modprobe %s", or set kind: existing with a link `+
		`that is there, such as lo`, kind)
}

// nameOr returns name, or other if it is empty.
func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}
