package bfd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// portHolder returns the name and the number of the process that has an
// endpoint's port, "" if that cannot be found out: without privileges, only
// processes of the same user can be looked at.
func portHolder(at endpoint) string {
	inodes := make(map[string]bool)
	for _, table := range []string{"/proc/net/udp", "/proc/net/udp6"} {
		b, err := os.ReadFile(table)
		if err == nil {
			socketInodes(inodes, string(b), at.port())
		}
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, l := range links {
		if target, err := os.Readlink(l); err == nil && inodes[target] {
			return processName(filepath.Dir(filepath.Dir(l)))
		}
	}
	return ""
}

// socketInodes adds the sockets on a local port in a table of /proc/net/udp's
// form to set, written as links in /proc/PID/fd are.
func socketInodes(set map[string]bool, table string, port int) {
	suffix := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(table) {
		// The second field is the local address, the tenth the socket.
		f := strings.Fields(line)
		if len(f) > 9 && strings.HasSuffix(f[1], suffix) {
			set["socket:["+f[9]+"]"] = true
		}
	}
}

// processName returns a process's name and number from its directory in /proc.
func processName(dir string) string {
	name := "a process"
	if b, err := os.ReadFile(filepath.Join(dir, "comm")); err == nil {
		name = strings.TrimSpace(string(b))
	}
	return fmt.Sprintf("%s (pid %s)", name, filepath.Base(dir))
}
