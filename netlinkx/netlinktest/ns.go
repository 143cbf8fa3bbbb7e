package netlinktest

import (
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"recuse/netlinkx"
)

// TB is what this package needs of a test; *testing.T and *rapid.T have it.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// NewNS puts the calling test, with its thread, into a fresh network namespace
// in which lo is up. The thread is never given back: it ends with the test's
// goroutine, whatever the outcome, and the namespace with it. Goroutines and
// subtests that the test starts run elsewhere, so each calls NewNS itself.
func NewNS(t TB) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		Missing(t, "a network namespace of its own", err)
	}
	LoUp(t)
}

// LoUp sets lo up in the network namespace of the calling thread.
func LoUp(t TB) {
	t.Helper()
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		t.Fatalf("netlinktest: failed to set up lo: %v", err)
	}
}

// Missing skips the test for want of what it needs, or fails it where
// RECUSE_TEST_REQUIRE_ROOT=1 says that nothing may be wanting.
func Missing(t TB, what string, err error) {
	t.Helper()
	if os.Getenv("RECUSE_TEST_REQUIRE_ROOT") == "1" {
		t.Fatalf("the test needs %s: %v", what, err)
	}
	t.Skipf("the test needs %s: %v", what, err)
}

// Kind returns the kind of link to test with: RECUSE_TEST_LINK_KIND, or a dummy
// if this kernel has it, or an ifb. The thread must be in a namespace of its
// own, since it tries.
func Kind(t TB) string {
	t.Helper()
	if kind := os.Getenv("RECUSE_TEST_LINK_KIND"); kind != "" {
		return kind
	}
	if try(t, netlinkx.KindDummy) != nil {
		return netlinkx.KindIFB
	}
	return netlinkx.KindDummy
}

// NeedKind is Missing if this kernel cannot make a link of that kind. The thread
// must be in a namespace of its own, since it tries.
func NeedKind(t TB, kind string) {
	t.Helper()
	if err := try(t, kind); err != nil {
		Missing(t, "links of kind "+kind, err)
	}
}

// try makes a link of that kind, and deletes it.
func try(t TB, kind string) error {
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "kindtest"
	link := &netlink.GenericLink{LinkAttrs: attrs, LinkType: kind}
	if err := netlink.LinkAdd(link); err != nil {
		return err
	}
	if err := netlink.LinkDel(link); err != nil {
		t.Fatalf("netlinktest: failed to delete the link made on trial: %v", err)
	}
	return nil
}
