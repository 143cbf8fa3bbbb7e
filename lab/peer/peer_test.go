package peer_test

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"recuse/lab/authority"
	"recuse/lab/peer"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// patience is for the slowest of the defaults: two checks of BIRD's script at
// 10 s each, on a box with more to do than it can.
const patience = 90 * time.Second

// TestMain runs more labs at once than there are cores: they mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestPeers raises every agent, with its defaults and tuned, until all three
// nodes serve; the node whose resolver dies must leave, and nothing must be
// left when the lab has closed.
func TestPeers(t *testing.T) {
	for _, name := range peer.Names() {
		for _, tuned := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/tuned=%v", name, tuned), func(t *testing.T) {
				t.Parallel()
				switch {
				case name == peer.Keepalived:
					takesTurns(t, tuned, topology.FRR)
				case name == peer.BIRDScript && !tuned:
					// Behind FRR it serves only after BIRD's penalty of a minute.
					leaves(t, name, tuned, topology.BIRD)
				default:
					leaves(t, name, tuned, topology.FRR)
				}
			})
		}
	}
}

// TestPeersBIRD is the same behind BIRD, for the tuned ones.
func TestPeersBIRD(t *testing.T) {
	for _, name := range peer.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == peer.Keepalived {
				takesTurns(t, true, topology.BIRD)
			} else {
				leaves(t, name, true, topology.BIRD)
			}
		})
	}
}

// leaves wants three next hops, two when a resolver is dead, and three again.
func leaves(t *testing.T, name string, tuned bool, router string) {
	lab, _ := raise(t, name, tuned, router)
	announced(t, lab, lab.Nodes...)
	first := lab.Nodes[0]
	must(t, first.Resolver.Kill())
	killed := time.Now()
	announced(t, lab, lab.Nodes[1:]...)
	t.Logf("the dead node has left after %v", time.Since(killed).Round(time.Millisecond))
	if tuned {
		must(t, first.Resolver.Start())
		announced(t, lab, lab.Nodes...)
	}
	closed(t, lab)
}

// takesTurns wants the first node to serve, and the second when the first one's
// resolver is dead, both by the answers that the client gets.
func takesTurns(t *testing.T, tuned bool, router string) {
	lab, a := raise(t, peer.Keepalived, tuned, router)
	agent := a.(turns)
	announced(t, lab, lab.Nodes[0])
	served(t, lab, agent, lab.Nodes[0])
	must(t, lab.Nodes[0].Resolver.Kill())
	killed := time.Now()
	served(t, lab, agent, lab.Nodes[1])
	t.Logf("the next node serves after %v", time.Since(killed).Round(time.Millisecond))
	must(t, lab.Nodes[1].Freeze())
	frozen := time.Now()
	served(t, lab, agent, lab.Nodes[2])
	t.Logf("the last node serves after %v", time.Since(frozen).Round(time.Millisecond))
	closed(t, lab)
}

// TestServfail wants a resolver that answers, but not the question, to be unfit
// too, and fit again when it does.
func TestServfail(t *testing.T) {
	t.Parallel()
	lab, _ := raise(t, peer.FRRScript, true, topology.FRR)
	announced(t, lab, lab.Nodes...)
	must(t, lab.Authority.SetFor(t.Context(), authority.LAN, authority.Behaviour{Failure: authority.ServFail}, lab.Nodes[1]))
	announced(t, lab, lab.Nodes[0], lab.Nodes[2])
	must(t, lab.Authority.SetFor(t.Context(), authority.LAN, authority.Behaviour{}, lab.Nodes[1]))
	announced(t, lab, lab.Nodes...)
}

// TestNew refuses what it does not know, and says what an agent is set to.
func TestNew(t *testing.T) {
	if _, err := peer.New("gated", false); err == nil || !strings.Contains(err.Error(), "must be one of bird-script, exabgp") {
		t.Errorf("New of an unknown agent: %v", err)
	}
	require(t, peer.ExaBGP)
	a, err := peer.New(peer.ExaBGP, false)
	must(t, err)
	want := "exabgp healthcheck: interval 5s, fast-interval 1s, timeout 5s, rise 3, fall 3 (defaults)"
	if s := a.Settings(); !strings.HasPrefix(s[0], want) {
		t.Errorf("settings %q, want %q", s, want)
	}
	for _, name := range peer.Names() {
		require(t, name)
		a, err := peer.New(name, true)
		must(t, err)
		if a.Name() != name || len(a.Versions(t.Context())) == 0 || !strings.Contains(a.Settings()[0], "tuned") {
			t.Errorf("%s: name %s, versions %v, settings %q", name, a.Name(), a.Versions(t.Context()), a.Settings())
		}
	}
}

// require skips the test, or fails it where nothing may be skipped, if this box
// lacks an agent.
func require(t *testing.T, name string) {
	t.Helper()
	if err := peer.Missing(name); err != nil {
		if os.Getenv("RECUSE_TEST_REQUIRE_ROOT") == "1" {
			t.Fatal(err)
		}
		t.Skipf("skipped: %v", err)
	}
}

// raise raises a lab whose nodes run the agent.
func raise(t *testing.T, name string, tuned bool, router string) (*topology.Lab, topology.Agent) {
	t.Helper()
	labtest.Require(t, router)
	require(t, name)
	a, err := peer.New(name, tuned)
	must(t, err)
	return labtest.StartBare(t, topology.Options{Router: router, Agent: a}), a
}

// announced waits until exactly these nodes are the router's next hops.
func announced(t *testing.T, lab *topology.Lab, nodes ...*topology.Node) {
	t.Helper()
	must(t, lab.WaitAnnounced(t.Context(), patience, nodes...))
}

// served waits until the client's questions are answered by that node, and wants
// the agent to say the same.
func served(t *testing.T, lab *topology.Lab, turns turns, want *topology.Node) {
	t.Helper()
	must(t, topology.Within(t.Context(), patience, want.ShortName+" answer", func() (bool, string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m, err := lab.Client.Ask(ctx, topology.DefaultAddresses()[0].Addr(), "router.lan.", dns.TypeA)
		return err == nil && nsid(m) == want.ShortName, fmt.Sprint(m, err)
	}))
	got, err := turns.Serving(t.Context(), lab.Router, lab.Nodes)
	if err != nil || got != want {
		t.Errorf("%v serves by the agent's word (%v), want %s", got, err, want.ShortName)
	}
}

// nsid is the name of who answers (RFC 5001).
func nsid(m *dns.Msg) string {
	for _, o := range m.IsEdns0().Option {
		if id, ok := o.(*dns.EDNS0_NSID); ok {
			name, _ := hex.DecodeString(id.Nsid)
			return string(name)
		}
	}
	return ""
}

// turns is an agent whose nodes serve in turn.
type turns interface {
	Serving(ctx context.Context, r *topology.Router, nodes []*topology.Node) (*topology.Node, error)
}

// closed closes the lab and waits until no process is in its namespaces.
func closed(t *testing.T, lab *topology.Lab) {
	t.Helper()
	spaces := map[uint64]string{}
	paths, err := filepath.Glob("/run/netns/recuse-lab-" + lab.ID() + "-*")
	must(t, err)
	for _, path := range paths {
		var s unix.Stat_t
		must(t, unix.Stat(path, &s))
		spaces[s.Ino] = path
	}
	if len(spaces) < 6 {
		t.Errorf("namespaces of the lab: %v", spaces)
	}
	must(t, lab.Close())
	must(t, topology.Within(t.Context(), patience, "no process left", func() (bool, string) {
		left := inside(spaces)
		return len(left) == 0, strings.Join(left, "; ")
	}))
}

// inside lists the processes that are in the namespaces.
func inside(spaces map[uint64]string) []string {
	var found []string
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		var s unix.Stat_t
		if unix.Stat(p+"/ns/net", &s) != nil || spaces[s.Ino] == "" {
			continue
		}
		if pid, _ := strconv.Atoi(filepath.Base(p)); pid == os.Getpid() {
			continue
		}
		command, _ := os.ReadFile(p + "/cmdline")
		found = append(found, p+" "+strings.ReplaceAll(string(command), "\x00", " "))
	}
	return found
}

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
