package netlinkx

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// The kinds of link that may carry service addresses.
const (
	KindDummy    = "dummy"
	KindIFB      = "ifb"      // flags and state of a dummy, on kernels without one
	KindBridge   = "bridge"   // without ports
	KindExisting = "existing" // made by somebody else, such as lo
)

const (
	maxLinkName = 15  // IFNAMSIZ without its terminating zero
	maxService  = 200 // an alias holds 255 bytes, its prefix included
)

// Config says what a Holder holds, and where.
type Config struct {
	Service   string         // the service's name, written into the link's alias
	Link      string         // the link's name
	Kind      string         // one of the Kind constants
	Addresses []netip.Prefix // service addresses, /32 or /128
}

// Validate reports everything that is wrong with c, joined.
func (c Config) Validate() error {
	errs := []error{c.validateService(), c.validateLink(), c.validateKind()}
	if len(c.Addresses) == 0 {
		errs = append(errs, errors.New("no service address"))
	}
	for i, p := range c.Addresses {
		errs = append(errs, validateAddress(p))
		if slices.Contains(c.Addresses[:i], p) {
			errs = append(errs, fmt.Errorf("service address %s: given twice", p))
		}
	}
	return errors.Join(errs...)
}

// validateService reports a name that cannot be part of an alias.
func (c Config) validateService() error {
	if c.Service == "" || len(c.Service) > maxService {
		return fmt.Errorf("service name %q: must have 1 to %d bytes", c.Service, maxService)
	}
	if strings.ContainsFunc(c.Service, unicode.IsControl) {
		return fmt.Errorf("service name %q: must not contain control characters", c.Service)
	}
	return nil
}

// validateLink reports a name that the kernel would refuse (dev_valid_name).
func (c Config) validateLink() error {
	if c.Link == "" || len(c.Link) > maxLinkName {
		return fmt.Errorf("link name %q: must have 1 to %d bytes", c.Link, maxLinkName)
	}
	bad := func(r rune) bool { return r == '/' || r == ':' || r == '%' || unicode.IsSpace(r) }
	if c.Link == "." || c.Link == ".." || strings.ContainsFunc(c.Link, bad) {
		return fmt.Errorf("link name %q: must not contain '/', ':', '%%' or spaces", c.Link)
	}
	return nil
}

// validateKind reports an unknown kind, and the loopback as a link to be made.
func (c Config) validateKind() error {
	switch c.Kind {
	case KindDummy, KindIFB, KindBridge:
		if c.Link == "lo" {
			return errors.New(`link "lo": exists on every box; set kind: existing`)
		}
		return nil
	case KindExisting:
		return nil
	}
	return fmt.Errorf("link kind %q: must be dummy, ifb, bridge or existing", c.Kind)
}

// validateAddress reports an address that no link can hold for a service.
func validateAddress(p netip.Prefix) error {
	a := p.Addr()
	switch {
	case !p.IsValid() || a.Is4In6() || a.Zone() != "":
		return fmt.Errorf("service address %s: not an IPv4 or IPv6 address", p)
	case !p.IsSingleIP():
		return fmt.Errorf("service address %s: must be a host route, /32 or /128", p)
	case a.IsMulticast() || a.IsUnspecified() || a.IsLinkLocalUnicast():
		return fmt.Errorf("service address %s: must be a routable unicast address", p)
	}
	return nil
}

// made says whether the link is made, and so owned, by the agent.
func (c Config) made() bool { return c.Kind != KindExisting }

// alias is the mark on a link that the agent made for the service.
func (c Config) alias() string { return "recuse:" + c.Service }

// hardware is the address with which a link is created, the mark that holds
// until the alias is set. It is locally administered and unicast, and says
// nothing on a wire, since the link has none.
func (c Config) hardware() string {
	sum := sha256.Sum256([]byte(c.alias()))
	return net.HardwareAddr{0x02, sum[0], sum[1], sum[2], sum[3], sum[4]}.String()
}

// guards returns the addresses for which an unreachable route must stand: the
// IPv6 ones, which the kernel takes off a link that goes down.
func (c Config) guards() []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(c.Addresses), func(p netip.Prefix) bool {
		return p.Addr().Is4()
	})
}
