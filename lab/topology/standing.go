package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// NamespacesOf are the namespaces of the labs that a process has raised, by the
// short names of their hosts.
func NamespacesOf(pid int) (map[string]string, error) {
	entries, err := os.ReadDir("/run/netns")
	if err != nil {
		return nil, fmt.Errorf("failed to list namespaces: %w", err)
	}
	found := map[string]string{}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), prefix+strconv.Itoa(pid)+"-"); ok {
			if _, name, ok := strings.Cut(rest, "-"); ok {
				found[name] = e.Name()
			}
		}
	}
	return found, nil
}

// DirOf is the directory of the files of a host, by its namespace; "." if that is
// none of a lab's.
func DirOf(namespace string) string {
	id, found := strings.CutPrefix(namespace, prefix)
	at := strings.LastIndexByte(id, '-')
	if !found || at < 0 {
		return "."
	}
	return filepath.Join(base, id[:at], id[at+1:])
}
