package doctor

import (
	"encoding/json"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"
)

// packet is what comes from outside.
type packet struct {
	in       string // the link by which it comes
	from, to netip.Addr
	tcp      bool
	port     uint16
	// onIn tells that the link by which it comes has the address that it goes to.
	onIn      bool
	untracked truth  // connection tracking leaves it alone
	what      string // for people
	why       string
}

// transport names the packet's protocol as nft does.
func (p packet) transport() string { return transports[p.tcp] }

// value is what a packet has in one place.
type value struct {
	text   string     // a name
	number int        // a port, or what the name stands for if that is known
	addr   netip.Addr // an address, if valid
	known  bool
	absent bool // the packet has no such place: of another protocol, say
}

// valueOfPacket finds what the left side of a match names.
func valueOfPacket(left json.RawMessage, p packet) value {
	var l struct {
		Meta, Ct *struct{ Key string }
		Payload  *struct{ Protocol, Field string }
		Fib      *struct {
			Result string
			Flags  json.RawMessage
		}
	}
	if json.Unmarshal(left, &l) != nil {
		return value{}
	}
	switch {
	case l.Meta != nil:
		return p.meta(l.Meta.Key)
	case l.Payload != nil:
		return p.payload(l.Payload.Protocol, l.Payload.Field)
	case l.Ct != nil && l.Ct.Key == "state":
		return p.state()
	case l.Fib != nil && l.Fib.Result == "type" && strings.Contains(string(l.Fib.Flags), "daddr"):
		if strings.Contains(string(l.Fib.Flags), "iif") && !p.onIn {
			return value{text: "unicast", known: true} // to the kernel, that link knows no such address
		}
		return value{text: "local", known: true}
	}
	return value{}
}

// state is what connection tracking says of the packet, the first of many.
func (p packet) state() value {
	word := map[truth]string{no: "new", yes: "untracked"}[p.untracked]
	return value{text: word, known: word != ""}
}

// protocol is the packet's, by nft's name or, where the box has no list of
// names, its number.
func (p packet) protocol() value {
	number := map[bool]int{false: unix.IPPROTO_UDP, true: unix.IPPROTO_TCP}[p.tcp]
	return value{text: p.transport(), number: number, known: true}
}

// meta is what the kernel knows of the packet beside its bytes.
func (p packet) meta(key string) value {
	family := map[bool]string{true: "4", false: "6"}[p.to.Is4()]
	switch key {
	case "iifname", "iif":
		return value{text: p.in, known: true}
	case "l4proto":
		return p.protocol()
	case "nfproto":
		return value{text: "ipv" + family, known: true}
	case "protocol":
		return value{text: strings.TrimSuffix("ip"+family, "4"), known: true}
	case "pkttype":
		return value{text: "host", known: true}
	}
	return value{}
}

// payload is a field of the packet.
func (p packet) payload(protocol, field string) value {
	switch protocol {
	case "ip", "ip6":
		if (protocol == "ip") != p.to.Is4() {
			return value{absent: true}
		}
		switch field {
		case "saddr":
			return value{addr: p.from, known: p.from.IsValid()}
		case "daddr":
			return value{addr: p.to, known: p.to.IsValid()}
		case "protocol", "nexthdr":
			return p.protocol()
		}
		return value{}
	case "th", p.transport():
		return value{number: int(p.port), known: field == "dport"}
	case "ether", "vlan", "": // without a name it is a place, counted in bits
		return value{}
	}
	return value{absent: true}
}
