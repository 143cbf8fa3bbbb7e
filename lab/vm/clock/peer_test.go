//go:build vm

package clock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
)

// The addresses of the two agents, and the link between them, whose two ends
// have the same name.
var (
	here  = netip.MustParseAddr("198.51.100.11")
	there = netip.MustParseAddr("198.51.100.9")
)

const (
	between = "pair0"
	peerEnv = "RECUSE_TEST_CLOCK_PEER" // marks the child
)

// TestMain makes the child be the other agent.
func TestMain(m *testing.M) {
	if os.Getenv(peerEnv) == "" {
		os.Exit(m.Run())
	}
	if err := peer(); err != nil {
		fmt.Println("the other agent:", err)
		os.Exit(1)
	}
}

// startPeer starts the child, connects it, and kills it when the test ends.
func startPeer(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), peerEnv+"="+t.TempDir())
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended: Wait tells
		_ = cmd.Wait()         // killed
	})
	attrs := netlink.NewLinkAttrs()
	attrs.Name = between
	veth := netlink.NewVeth(attrs)
	veth.PeerName, veth.PeerNamespace = between, netlink.NsPid(cmd.Process.Pid)
	if err := errors.Join(netlink.LinkAdd(veth), bring(between, here)); err != nil {
		t.Fatal(err)
	}
}

// peer is the whole life of the child.
func peer() error {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := netlink.LinkByName(between); err == nil {
			break
		} else if time.Now().After(end) {
			return err
		}
	}
	if err := errors.Join(bring("lo", netip.Addr{}), bring(between, there)); err != nil {
		return err
	}
	if _, err := serve(); err != nil {
		return err
	}
	listen := fmt.Sprintf("listen: %v", netip.AddrPortFrom(there, 179))
	a, _, err := newAgent(os.Getenv(peerEnv), "n2", 65009, there, listen, here, 65011)
	if err != nil {
		return err
	}
	return a.Run(context.Background(), context.Background())
}

// bring sets a link up, with an address if one is given.
func bring(name string, a netip.Addr) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	if a.IsValid() {
		address := &netlink.Addr{IPNet: &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(24, 32)}}
		if err := netlink.AddrAdd(link, address); err != nil {
			return err
		}
	}
	return netlink.LinkSetUp(link)
}
