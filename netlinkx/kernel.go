package netlinkx

import (
	"fmt"
	"io"
	"net/netip"
)

// Kernel is what a Holder needs of the kernel. NewHolder uses the real one;
// netlinktest brings one that lives in memory.
type Kernel interface {
	// Link returns what stands under the name; Exists is false if nothing does.
	Link(name string) (Link, error)
	// Links returns every link of the box.
	Links() ([]Link, error)
	// Guards returns the unreachable routes that bear our protocol number.
	Guards() ([]netip.Prefix, error)
	// Apply does one step, and fails with the kernel's own error number.
	Apply(op Op) error
	// Lock takes the name for this process, and fails with an *InUseError if
	// another has it, or another Holder of this process.
	Lock(name string) (io.Closer, error)
}

// Link is a link as the kernel shows it.
type Link struct {
	Exists    bool
	Name      string
	Index     int
	Kind      string // as in Config; "device" for one with no kind, such as lo
	Alias     string
	Hardware  string // as net.HardwareAddr prints it
	Up        bool   // IFF_UP: the administrator's word, not the carrier's
	Addresses []Address
}

// Address is a host address on a link.
type Address struct {
	Prefix netip.Prefix
	Usable bool // neither tentative nor found to be a duplicate (RFC 4862)
	Right  bool // with the lifetimes that we give; always true for IPv4
}

// address returns l's address p, if l has it.
func (l Link) address(p netip.Prefix) (Address, bool) {
	for _, a := range l.Addresses {
		if a.Prefix == p {
			return a, true
		}
	}
	return Address{}, false
}

// Verb is what an Op does.
type Verb uint8

// The steps of which every plan is made.
const (
	CreateLink    Verb = iota + 1 // down, with Hardware, not yet marked
	MarkLink                      // set the alias
	SetLinkUp                     //
	SetLinkDown                   // which makes the kernel drop IPv6 addresses
	DeleteLink                    //
	AddAddress                    // IPv6: no DAD, never preferred, valid forever
	RepairAddress                 // remove and add again
	DeleteAddress                 //
	AddGuard                      // the unreachable route of an address
	DeleteGuard                   //
)

// String returns the words that complete "failed to VERB OBJECT".
func (v Verb) String() string {
	names := [...]string{"do nothing with", "create link", "set the alias of link",
		"set up link", "set down link", "delete link", "add address", "renew address",
		"delete address", "add unreachable route to", "delete unreachable route to"}
	if int(v) >= len(names) {
		return fmt.Sprintf("verb %d", uint8(v))
	}
	return names[v]
}

// Op is one step: one change of the kernel's state.
type Op struct {
	Verb     Verb
	Link     string       // the link's name; empty for a guard
	Index    int          // its index, 0 if it is made by the same plan
	Kind     string       // CreateLink
	Hardware string       // CreateLink
	Alias    string       // MarkLink
	Prefix   netip.Prefix // AddAddress to DeleteGuard
}

// String returns o as in `add address 192.0.2.53/32 on link "anycast0"`.
func (o Op) String() string {
	switch o.Verb {
	case AddAddress, RepairAddress, DeleteAddress:
		return fmt.Sprintf("%s %s on link %q", o.Verb, o.Prefix, o.Link)
	case AddGuard, DeleteGuard:
		return fmt.Sprintf("%s %s", o.Verb, o.Prefix)
	}
	return fmt.Sprintf("%s %q", o.Verb, o.Link)
}
