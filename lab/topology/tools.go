package topology

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// toolDirs are where Debian keeps daemons that are on nobody's PATH.
var toolDirs = []string{"/usr/sbin", "/usr/lib/frr", "/usr/bin"}

// tool is the path of a program, or its bare name if it is not found, for the
// error at its start.
func tool(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range toolDirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return name
}

// Missing says what this box lacks for a lab with that router, and how to get
// it; nil if nothing.
func Missing(router string) error {
	var errs []error
	if os.Geteuid() != 0 {
		errs = append(errs, errors.New("not root: network namespaces need it"))
	}
	need := map[string]string{"unbound": "unbound"}
	if router == BIRD {
		need["bird"], need["birdc"] = "bird2", "bird2"
	} else {
		need["zebra"], need["bgpd"], need["vtysh"] = "frr", "frr", "frr"
	}
	for program, pkg := range need {
		if !filepath.IsAbs(tool(program)) {
			errs = append(errs, fmt.Errorf("%s is not installed: apt-get install %s", program, pkg))
		}
	}
	return errors.Join(errs...)
}
