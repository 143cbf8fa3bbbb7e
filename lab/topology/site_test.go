package topology_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"recuse/lab/cable"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// TestGuests plugs a router and a node that are somebody else's into a site, and
// asks the authority from the node: over the node's own interface, the router's
// two, and a cable that comes later. The processes must outlive their leaving.
func TestGuests(t *testing.T) {
	labtest.Require(t, topology.FRR)
	dir := labtest.Build(t)
	site, err := topology.NewSite(context.WithoutCancel(t.Context()), topology.Options{
		Recuse: filepath.Join(dir, "recuse"), Authority: []string{filepath.Join(dir, "recuse-authority")},
	})
	must(t, err)
	t.Cleanup(func() { must(t, site.Close()) })
	r1, n1 := stranger(t), stranger(t)
	plug(t, site, "r1", r1, topology.RouterPorts)
	plug(t, site, "n1", n1, topology.NodePorts)
	router, err := site.GuestRouter("r1", r1, func(question string) []string { return []string{"echo", question} })
	must(t, err)
	node, err := site.GuestNode(0, n1)
	must(t, err)
	if len(site.Nodes) != 1 || site.NameOf(node.V4) != "n1" || site.Router != router {
		t.Errorf("nodes %v, %v is %s", site.Nodes, node.V4, site.NameOf(node.V4))
	}
	_, home := site.Authority.Addresses()
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := node.Ask(ctx, home, "router.lan.", dns.TypeA)
		return err
	}
	must(t, ask())
	must(t, node.Shape(cable.Shape{Cut: true}))
	if ask() == nil {
		t.Error("a cut wire let a question through")
	}
	must(t, node.Shape(cable.Shape{}))
	must(t, ask())
	if out, err := router.Show(t.Context(), "show who"); err != nil || out != "show who\n" {
		t.Errorf("the router's daemons were asked %q (%v)", out, err)
	}
	must(t, node.Leave())
	must(t, router.Leave())
	for _, pid := range []int{r1, n1} {
		if err := unix.Kill(pid, 0); err != nil {
			t.Errorf("process %d has not outlived its leaving: %v", pid, err)
		}
	}
}

// stranger is a process in a network namespace of its own.
func stranger(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, as it should be
	})
	return cmd.Process.Pid
}

// plug gives a process's namespace an interface on each of the site's networks.
func plug(t *testing.T, site *topology.Lab, name string, pid int, networks []string) {
	t.Helper()
	for _, network := range networks {
		far := topology.FarEnd(name, network)
		for _, args := range [][]string{
			{"link", "add", far, "type", "veth", "peer", topology.Device(network), "netns", strconv.Itoa(pid)},
			{"link", "set", far, "up", "master", network},
		} {
			_, err := site.Switch().Run(t.Context(), append([]string{"ip"}, args...)...)
			must(t, err)
		}
	}
}

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
