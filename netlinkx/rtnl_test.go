package netlinkx

import (
	"errors"
	"net"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// TestRetry states how often an interrupted dump is repeated.
func TestRetry(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name     string
		answers  []error // the last is repeated
		want     error
		wantRuns int
	}{
		{"good", []error{nil}, nil, 1},
		{"interrupted twice", []error{netlink.ErrDumpInterrupted, netlink.ErrDumpInterrupted, nil}, nil, 3},
		{"another error", []error{netlink.ErrDumpInterrupted, broken}, broken, 2},
		{"always", []error{netlink.ErrDumpInterrupted}, netlink.ErrDumpInterrupted, 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs := 0
			err := retry(func() error {
				runs++
				return tt.answers[min(runs, len(tt.answers))-1]
			})
			if !errors.Is(err, tt.want) || runs != tt.wantRuns {
				t.Errorf("got %v after %d runs, want %v after %d", err, runs, tt.want, tt.wantRuns)
			}
		})
	}
}

// TestAddressFlags states which addresses are usable, and which are right.
func TestAddressFlags(t *testing.T) {
	const permanent = unix.IFA_F_PERMANENT
	tests := []struct {
		name          string
		prefix        string
		flags         int
		preferred     int
		usable, right bool
	}{
		{"IPv4", "192.0.2.53/32", permanent, -1, true, true},
		{"ours", "2001:db8::53/128", permanent | unix.IFA_F_NODAD | unix.IFA_F_DEPRECATED, 0, true, true},
		{"tentative", "2001:db8::53/128", permanent | unix.IFA_F_TENTATIVE, 0, false, true},
		{"duplicate", "2001:db8::53/128", permanent | unix.IFA_F_TENTATIVE | unix.IFA_F_DADFAILED, 0, false, true},
		{"preferred", "2001:db8::53/128", permanent, 1 << 30, true, false},
		{"expires", "2001:db8::53/128", unix.IFA_F_DEPRECATED, 0, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := prefixes(tt.prefix)[0]
			a := netlink.Addr{Flags: tt.flags, PreferedLft: tt.preferred}
			if usable(a) != tt.usable || right(p, a) != tt.right {
				t.Errorf("got usable %v, right %v, want %v, %v", usable(a), right(p, a), tt.usable, tt.right)
			}
		})
	}
}

// address returns what the library makes of an address of an interface.
func address(t *testing.T, index int, cidr, peer string) netlink.Addr {
	t.Helper()
	a := netlink.Addr{LinkIndex: index, IPNet: network(t, cidr)}
	if peer != "" {
		a.Peer = network(t, peer)
	}
	return a
}

// network parses an address with its prefix length, host bits kept.
func network(t *testing.T, cidr string) *net.IPNet {
	t.Helper()
	ip, n, err := net.ParseCIDR(cidr)
	if err != nil {
		t.Fatal(err)
	}
	return &net.IPNet{IP: ip, Mask: n.Mask}
}
