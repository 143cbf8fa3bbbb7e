package doctor

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"recuse/probe"
)

// States of a socket in the kernel's tables (include/net/tcp_states.h): a UDP
// socket without a peer has that of a closed one.
const (
	stateClose  = "07"
	stateListen = "0A"
)

// readSockets reads the sockets that others can reach, with their processes as
// far as this user may look at them.
func readSockets() ([]Socket, error) {
	owners := socketOwners()
	var all []Socket
	for _, table := range []string{"udp", "udp6", "tcp", "tcp6"} {
		text, err := os.ReadFile("/proc/thread-self/net/" + table)
		if os.IsNotExist(err) && strings.HasSuffix(table, "6") {
			continue // no IPv6 here
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if s, inode, ok := parseSocket(line, strings.HasPrefix(table, "tcp")); ok {
				s.Process, s.PID = owners[inode].name, owners[inode].pid
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// parseSocket reads a line of a table and returns the socket's inode. It is not
// ok for a heading and for a socket with a peer.
func parseSocket(line string, tcp bool) (s Socket, inode string, ok bool) {
	f := strings.Fields(line)
	wanted := stateClose
	if tcp {
		wanted = stateListen
	}
	if len(f) < 10 || f[3] != wanted {
		return s, "", false
	}
	local, err := parseAddrPort(f[1])
	return Socket{TCP: tcp, Local: local}, f[9], err == nil
}

// parseAddrPort reads ADDRESS:PORT as the kernel's tables have it: the address
// as words of 32 bits in the order of this machine.
func parseAddrPort(text string) (netip.AddrPort, error) {
	address, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(address)
	if err != nil || len(b) != 4 && len(b) != 16 {
		return netip.AddrPort{}, fmt.Errorf("%q: not an address of the kernel's tables", text)
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q: not a port of the kernel's tables", text)
	}
	a, _ := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(a.Unmap(), uint16(n)), nil
}

// process is a running program.
type process struct {
	name string // its own choice, so it is shown with care
	pid  int
}

// nameMax bounds a process's name as it is shown: the kernel's 15 bytes, each
// written as an escape.
const nameMax = 15 * 4

// socketOwners finds the process of each socket, by inode. Of several that share
// one, as a parent and its children, it is the one with the lowest number.
func socketOwners() map[string]process {
	owners := map[string]process{}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, l := range links {
		target, err := os.Readlink(l)
		if err != nil {
			continue // gone, or another user's
		}
		inode, ok := strings.CutPrefix(target, "socket:[")
		if !ok {
			continue
		}
		inode = strings.TrimSuffix(inode, "]")
		dir := filepath.Dir(filepath.Dir(l))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if old, there := owners[inode]; there && old.pid < pid {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(dir, "comm"))
		owners[inode] = process{probe.Printable(strings.TrimSpace(string(name)), nameMax), pid}
	}
	return owners
}
