package topology

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"recuse/netlinkx/netnstest"
)

// alone is set where the test has a mount namespace of its own.
const alone = "RECUSE_TEST_MOUNTS"

// TestShareNames has somebody use `ip netns add` for the first time on the box
// while a lab stands: its names can be deleted all the same.
func TestShareNames(t *testing.T) {
	if os.Getenv(alone) != "" {
		shareAlone(t)
		return
	}
	netnstest.Need(t)
	cmd := exec.Command("unshare", "--mount", os.Args[0], "-test.run", "^TestShareNames$")
	cmd.Env = append(os.Environ(), alone+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// shareAlone is TestShareNames on a box where nobody has used namespaces yet.
func shareAlone(t *testing.T) {
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := shareNames(); err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(netnsDir, "ours-"+strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(ours, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("/proc/self/ns/net", ours, "none", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ip", "netns", "add", "theirs").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := errors.Join(unix.Unmount(ours, unix.MNT_DETACH), os.Remove(ours)); err != nil {
		t.Errorf("our name cannot be deleted: %v", err)
	}
}
