package topology

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// netnsDir is where named namespaces are bound.
const netnsDir = "/run/netns"

// shareNames makes netnsDir a mount point that is shared, as `ip netns add` does
// when it is first used on a box. Done by that under a lab that stands, it covers
// the names of the lab, and what is covered can be neither unbound nor deleted.
func shareNames() error {
	if err := os.MkdirAll(netnsDir, 0o755); err != nil {
		return fmt.Errorf("failed to make directory of namespaces: %w", err)
	}
	share := func() error { return unix.Mount("", netnsDir, "none", unix.MS_SHARED|unix.MS_REC, "") }
	err := share()
	if errors.Is(err, unix.EINVAL) { // it is no mount point
		err = unix.Mount(netnsDir, netnsDir, "none", unix.MS_BIND|unix.MS_REC, "")
		if err == nil {
			err = share()
		}
	}
	if err != nil {
		return fmt.Errorf("failed to share %s: %w", netnsDir, err)
	}
	return nil
}
