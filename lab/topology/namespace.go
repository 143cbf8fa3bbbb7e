package topology

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// errClosed is what a closed namespace answers.
var errClosed = errors.New("namespace is closed")

// Namespace is a network namespace with one thread inside it.
type Namespace struct {
	Name   string // as `ip netns exec` takes it, if the lab made it
	pid    int    // of the process whose namespace it is; 0: the lab's own
	handle netns.NsHandle
	link   *netlink.Handle
	work   chan func()
	quit   chan struct{} // closed by close
	gone   chan struct{} // closed when the thread has ended
}

// newNamespace makes the namespace with its loopback up and the lab's sysctls.
func newNamespace(name string) (*Namespace, error) { return openNamespace(name, 0) }

// openNamespace is newNamespace, or if a process is given it enters that one's
// namespace and prepares it likewise.
func openNamespace(name string, pid int) (*Namespace, error) {
	n := &Namespace{
		Name: name,
		pid:  pid,
		work: make(chan func()),
		quit: make(chan struct{}),
		gone: make(chan struct{}),
	}
	made := make(chan error)
	go n.live(made)
	if err := <-made; err != nil {
		return nil, fmt.Errorf("failed to make namespace %s: %w", name, err)
	}
	if err := n.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to prepare namespace %s: %w", name, err), n.close())
	}
	return n, nil
}

// live makes the namespace and runs what Do is given until quit. The thread is
// never unlocked, so it ends with the goroutine and nobody else gets it.
func (n *Namespace) live(made chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// /proc/self means the main thread, which cannot be replaced either:
		// hold it here until another thread has taken the work.
		started := make(chan error)
		go n.live(started)
		made <- <-started
		runtime.UnlockOSThread()
		return
	}
	handle, err := n.enter()
	if err != nil {
		made <- err
		return
	}
	n.handle = handle
	made <- nil
	defer close(n.gone)
	for {
		select {
		case f := <-n.work:
			f()
		case <-n.quit:
			return
		}
	}
}

// enter moves the thread into the namespace, which it makes if it is the lab's.
func (n *Namespace) enter() (netns.NsHandle, error) {
	if n.pid == 0 {
		return netns.NewNamed(n.Name)
	}
	handle, err := netns.GetFromPid(n.pid)
	if err != nil {
		return netns.None(), err
	}
	if err := netns.Set(handle); err != nil {
		return netns.None(), errors.Join(err, handle.Close())
	}
	return handle, nil
}

// prepare opens the namespace's netlink handle and sets what all hosts share.
func (n *Namespace) prepare() error {
	link, err := netlink.NewHandleAt(n.handle, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("failed to open netlink: %w", err)
	}
	n.link = link
	for _, family := range []string{"ipv4", "ipv6"} {
		for _, conf := range []string{"all", "default"} {
			if err := n.quiet("net/" + family + "/conf/" + conf + "/"); err != nil {
				return err
			}
		}
	}
	lo, err := link.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("failed to find loopback: %w", err)
	}
	if err := link.LinkSetUp(lo); err != nil {
		return fmt.Errorf("failed to set loopback up: %w", err)
	}
	return nil
}

// quiet turns off what would make a start wait (duplicate address detection) or
// drop a reply that takes another way back (reverse path filter).
func (n *Namespace) quiet(dir string) error {
	if strings.Contains(dir, "ipv4") {
		return n.Sysctl(dir+"rp_filter", "0")
	}
	return errors.Join(n.Sysctl(dir+"accept_dad", "0"), n.Sysctl(dir+"accept_ra", "0"))
}

// Do runs f on the namespace's thread. Sockets that f opens and processes that
// it starts belong to the namespace. f must not block.
func (n *Namespace) Do(f func() error) error {
	done := make(chan error, 1)
	select {
	case n.work <- func() { done <- f() }:
		return <-done
	case <-n.quit:
		return errClosed
	}
}

// Sysctl sets a kernel setting of the namespace; key is the path below
// /proc/sys.
func (n *Namespace) Sysctl(key, value string) error {
	return n.Do(func() error {
		err := os.WriteFile(filepath.Join("/proc/sys", key), []byte(value), 0o644)
		if err != nil {
			return fmt.Errorf("failed to set %s to %s: %w", key, value, err)
		}
		return nil
	})
}

// DialUDP opens a connected UDP socket in the namespace, from a port that the
// kernel chooses.
func (n *Namespace) DialUDP(to *net.UDPAddr) (conn *net.UDPConn, err error) {
	err = n.Do(func() error {
		conn, err = net.DialUDP("udp", nil, to)
		return err
	})
	return conn, err
}

// ListenUDP opens an unconnected UDP socket in the namespace.
func (n *Namespace) ListenUDP(at *net.UDPAddr) (conn *net.UDPConn, err error) {
	err = n.Do(func() error {
		conn, err = net.ListenUDP("udp", at)
		return err
	})
	return conn, err
}

// close ends the thread, kills what processes have left behind (a command of a
// script that was ended) and deletes the name. The kernel frees the namespace
// when the last process or socket in it is gone. Of another process's it only
// leaves. One goroutine may call it.
func (n *Namespace) close() error {
	select {
	case <-n.quit:
		return errClosed
	default:
	}
	close(n.quit)
	<-n.gone
	if n.link != nil {
		n.link.Close()
	}
	if n.pid != 0 {
		return n.handle.Close()
	}
	if err := errors.Join(killInside(n.Name), n.handle.Close(), netns.DeleteNamed(n.Name)); err != nil {
		return fmt.Errorf("failed to delete namespace %s: %w", n.Name, err)
	}
	return nil
}
