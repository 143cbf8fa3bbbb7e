package netlinkx

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestExplain states what a user reads when a step fails.
func TestExplain(t *testing.T) {
	v4, v6 := fresh4.Prefix, fresh6.Prefix
	tests := []struct {
		name string
		op   Op
		err  error
		is   error
		want string
	}{
		{"no dummy", Op{Verb: CreateLink, Link: "a0", Kind: KindDummy}, unix.EOPNOTSUPP, ErrNoKind,
			`failed to create link "a0": operation not supported: kernel has no such kind of link ` +
				`"dummy": load it with "modprobe dummy", or set kind: ifb or kind: bridge`},
		{"no ifb", Op{Verb: CreateLink, Link: "a0", Kind: KindIFB}, unix.EOPNOTSUPP, ErrNoKind,
			`failed to create link "a0": operation not supported: kernel has no such kind of link ` +
				`"ifb": load it with "modprobe ifb", or set kind: bridge`},
		{"no bridge", Op{Verb: CreateLink, Link: "a0", Kind: KindBridge}, unix.EOPNOTSUPP, ErrNoKind,
			`failed to create link "a0": operation not supported: kernel has no such kind of link ` +
				`"bridge": load it with "modprobe bridge", or set kind: existing with a link that is ` +
				`there, such as lo`},
		{"not permitted", Op{Verb: SetLinkUp, Link: "a0"}, unix.EPERM, unix.EPERM,
			`failed to set up link "a0": operation not permitted: it takes CAP_NET_ADMIN: run recuse ` +
				`as root, or with AmbientCapabilities=CAP_NET_ADMIN in its systemd unit`},
		{"IPv6 off on the link", Op{Verb: AddAddress, Link: "a0", Prefix: v6}, unix.EACCES, ErrNoIPv6,
			`failed to add address 2001:db8::53/128 on link "a0": permission denied: no IPv6 here: set ` +
				`sysctl net.ipv6.conf.a0.disable_ipv6=0 (and net.ipv6.conf.all, .default), or leave out ` +
				`the IPv6 service addresses`},
		{"IPv6 off on the box", Op{Verb: AddGuard, Prefix: v6}, unix.EACCES, ErrNoIPv6,
			`failed to add unreachable route to 2001:db8::53/128: permission denied: no IPv6 here: set ` +
				`sysctl net.ipv6.conf.lo.disable_ipv6=0 (and net.ipv6.conf.all, .default), or leave out ` +
				`the IPv6 service addresses`},
		{"kernel without IPv6", Op{Verb: AddGuard, Prefix: v6}, unix.EAFNOSUPPORT, ErrNoIPv6,
			`failed to add unreachable route to 2001:db8::53/128: address family not supported by ` +
				`protocol: no IPv6 here: boot the kernel without ipv6.disable=1, or leave out the IPv6 ` +
				`service addresses`},
		{"link gone meanwhile", Op{Verb: AddAddress, Link: "a0", Prefix: v4}, unix.ENODEV, unix.ENODEV,
			`failed to add address 192.0.2.53/32 on link "a0": no such device`},
		{"IPv4 is not of IPv6", Op{Verb: AddAddress, Link: "a0", Prefix: v4}, unix.EACCES, unix.EACCES,
			`failed to add address 192.0.2.53/32 on link "a0": permission denied`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := explain(tt.op, tt.err)
			if got.Error() != tt.want {
				t.Errorf("unexpected text:\n got %s\nwant %s", got, tt.want)
			}
			if !errors.Is(got, tt.is) || !errors.Is(got, tt.err) {
				t.Errorf("%v: not found by errors.Is: %v and %v", got, tt.is, tt.err)
			}
		})
	}
}

// TestSettled states which failures mean that the work is done already.
func TestSettled(t *testing.T) {
	done := map[Verb][]error{
		AddAddress:    {unix.EEXIST},
		AddGuard:      {unix.EEXIST},
		DeleteAddress: {unix.EADDRNOTAVAIL, unix.ENODEV},
		DeleteGuard:   {unix.ESRCH},
		DeleteLink:    {unix.ENODEV},
		SetLinkDown:   {unix.ENODEV},
	}
	all := []error{unix.EEXIST, unix.EADDRNOTAVAIL, unix.ENODEV, unix.ESRCH, unix.EPERM, unix.EINVAL}
	for v := CreateLink; v <= DeleteGuard; v++ {
		for _, err := range all {
			want := false
			for _, e := range done[v] {
				want = want || e == err
			}
			if got := settled(Op{Verb: v}, err); got != want {
				t.Errorf("%s: %v: got settled %v, want %v", v, err, got, want)
			}
		}
	}
}

// TestVerbs fails for a verb without words.
func TestVerbs(t *testing.T) {
	seen := map[string]Verb{}
	for v := CreateLink; v <= DeleteGuard; v++ {
		if other, twice := seen[v.String()]; twice || v.String() == "" {
			t.Errorf("verbs %d and %d: both are %q", v, other, v)
		}
		seen[v.String()] = v
	}
	if got, want := (DeleteGuard + 1).String(), "verb 11"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
