package tripwire

import (
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Where the parts of a message lie: struct nlmsghdr, then struct inet_diag_msg
// (linux/inet_diag.h). The ports are in network order.
const (
	familyAt = unix.SizeofNlMsghdr
	localAt  = familyAt + 4  // id.idiag_sport
	remoteAt = localAt + 2   // id.idiag_dport
	sourceAt = remoteAt + 2  // id.idiag_src, 16 bytes
	leastLen = sourceAt + 16 // nothing behind it matters
)

// portsMost is how many ports one filter can name: its jumps are of one byte.
const portsMost = 200

// filter returns a program that lets pass what has no port on the other side
// and one of ports on this.
func filter(ports []uint16) ([]unix.SockFilter, error) {
	ports = slices.Compact(slices.Sorted(slices.Values(ports)))
	if len(ports) == 0 || len(ports) > portsMost {
		return nil, fmt.Errorf("failed to make a filter for %d ports, 1 to %d can be", len(ports), portsMost)
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: remoteAt, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipFalse: uint8(len(ports) + 1)},
		bpf.LoadAbsolute{Off: localAt, Size: 2},
	}
	for i, p := range ports {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(p), SkipTrue: uint8(len(ports) - i)})
	}
	return assemble(append(program, bpf.RetConstant{Val: 0}, bpf.RetConstant{Val: 0xffff}))
}

// assemble returns a program as the kernel takes it.
func assemble(program []bpf.Instruction) ([]unix.SockFilter, error) {
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("failed to assemble the filter: %w", err)
	}
	var list []unix.SockFilter
	for _, r := range raw {
		list = append(list, unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	return list, nil
}
