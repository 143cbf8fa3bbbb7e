package tripwire

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// message returns what the kernel tells of a socket.
func message(local string, remote uint16) []byte {
	addr := netip.MustParseAddrPort(local)
	raw := make([]byte, leastLen+56)
	raw[familyAt], raw[familyAt+1] = unix.AF_INET6, 7 // TCP_CLOSE, also of a listener
	if addr.Addr().Is4() {
		raw[familyAt] = unix.AF_INET
	}
	binary.BigEndian.PutUint16(raw[localAt:], addr.Port())
	binary.BigEndian.PutUint16(raw[remoteAt:], remote)
	copy(raw[sourceAt:], addr.Addr().AsSlice())
	return raw
}

// TestFilter proves in a machine of its own what the filter lets pass.
func TestFilter(t *testing.T) {
	many := make([]uint16, portsMost)
	for i := range many {
		many[i] = uint16(1000 + i)
	}
	tests := []struct {
		name   string
		ports  []uint16
		local  string
		remote uint16
		passes bool
	}{
		{"a listener", []uint16{53}, "127.0.0.1:53", 0, true},
		{"another's listener", []uint16{53}, "127.0.0.1:54", 0, false},
		{"a client's connection", []uint16{53}, "127.0.0.1:53", 40000, false},
		{"a client on this box", []uint16{53}, "127.0.0.1:40000", 53, false},
		{"a resolver's own socket", []uint16{53}, "0.0.0.0:40000", 0, false},
		{"of IPv6", []uint16{53}, "[::]:53", 0, true},
		{"a high port", []uint16{65535}, "127.0.0.1:65535", 0, true},
		{"the first of three", []uint16{853, 53, 5353}, "127.0.0.1:53", 0, true},
		{"the last of three", []uint16{853, 53, 5353}, "127.0.0.1:5353", 0, true},
		{"none of three", []uint16{853, 53, 5353}, "127.0.0.1:54", 0, false},
		{"the first of very many", many, "127.0.0.1:1000", 0, true},
		{"the last of very many", many, "127.0.0.1:1199", 0, true},
		{"none of very many", many, "127.0.0.1:1200", 0, false},
		{"a client of very many", many, "127.0.0.1:1000", 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			program, err := filter(tt.ports)
			if err != nil {
				t.Fatal(err)
			}
			var list []bpf.Instruction
			for _, f := range program {
				list = append(list, bpf.RawInstruction{Op: f.Code, Jt: f.Jt, Jf: f.Jf, K: f.K}.Disassemble())
			}
			vm, err := bpf.NewVM(list)
			if err != nil {
				t.Fatal(err)
			}
			n, err := vm.Run(message(tt.local, tt.remote))
			if err != nil || n > 0 != tt.passes {
				t.Errorf("passes %d bytes, %v, want any: %v", n, err, tt.passes)
			}
		})
	}
}

// TestFilterPorts proves how many ports there can be, each counted once.
func TestFilterPorts(t *testing.T) {
	if _, err := filter(nil); err == nil || !strings.Contains(err.Error(), "for 0 ports") {
		t.Errorf("error %v", err)
	}
	ports := make([]uint16, 0, 2*portsMost)
	for i := range portsMost {
		ports = append(ports, uint16(i), uint16(i))
	}
	if _, err := filter(ports); err != nil {
		t.Error(err)
	}
	if _, err := filter(append(ports, 60000)); err == nil {
		t.Error("one more than can be is taken")
	}
}

// TestServes proves whose sockets may have answered at an address.
func TestServes(t *testing.T) {
	tests := []struct {
		local  string
		remote uint16
		server string
		want   bool
	}{
		{"127.0.0.1:53", 0, "127.0.0.1:53", true},
		{"0.0.0.0:53", 0, "127.0.0.1:53", true},
		{"[::]:53", 0, "127.0.0.1:53", true},
		{"[::]:53", 0, "[::1]:53", true},
		{"[::ffff:127.0.0.1]:53", 0, "127.0.0.1:53", true},
		{"0.0.0.0:53", 0, "[::1]:53", false},
		{"10.1.1.1:53", 0, "127.0.0.1:53", false},
		{"127.0.0.1:54", 0, "127.0.0.1:53", false},
		{"127.0.0.1:53", 9, "127.0.0.1:53", false},
	}
	for _, tt := range tests {
		d, ok := parse(message(tt.local, tt.remote))
		if got := ok && d.serves(netip.MustParseAddrPort(tt.server)); got != tt.want {
			t.Errorf("%s with %d at the other side serves %s: %v, want %v", tt.local, tt.remote, tt.server, got, tt.want)
		}
	}
}

// FuzzParse proves that no message makes the reader fall over, and that what
// is too short or of another family is none.
func FuzzParse(f *testing.F) {
	f.Add(message("127.0.0.1:53", 0))
	f.Add(message("[::1]:53", 1))
	f.Add(message("[::1]:53", 1)[:leastLen-1])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, ok := parse(raw)
		known := len(raw) >= leastLen && (raw[familyAt] == unix.AF_INET || raw[familyAt] == unix.AF_INET6)
		if ok != known {
			t.Errorf("ok %v for %d bytes", ok, len(raw))
		}
		if ok && !d.local.IsValid() {
			t.Errorf("no address: %+v", d)
		}
	})
}
