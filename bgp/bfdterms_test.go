package bgp

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A router without BFD still peers.
func TestRouterWithoutBFD(t *testing.T) {
	b := newBFDLab(t, withBFD(v4Peer()))
	b.s.says(0, "waits for BFD with 10.1.1.1, until ")
	b.f.installed(service[0], "10.1.1.11")
	var st PeerState
	until(t, "words", func() bool {
		st = b.s.peer(0)
		return strings.HasPrefix(st.BFD.Trouble, "never came up beside an established BGP session: ")
	})
	t.Log(st.BFD.Trouble)
	if st.State != "ESTABLISHED" || st.LastError != "" {
		t.Errorf("unexpected state: %+v", st)
	}
	// bgpd may have its neighbour anew as often as it likes: no more waiting.
	b.f.vtysh("clear bgp *")
	until(t, "a new session", func() bool { n := b.s.peer(0); return n.State == "ESTABLISHED" && n.Since.After(st.Since) })
}

// A strict peer does not come up without BFD, for longer.
func TestStrict(t *testing.T) {
	b := newBFDLab(t, v4Peer().with(func(p *Peer) { p.BFD = &BFD{Strict: true} }))
	st := b.s.says(0, "waits for BFD with 10.1.1.1, until ")
	until(t, "the patience of others over", func() bool { return time.Since(st.Since) > patience+time.Second })
	if st := b.s.peer(0); st.State != "CONNECT" || st.BFD.Trouble == "" {
		t.Errorf("unexpected state: %+v, %+v", st, st.BFD)
	}
	b.f.vtysh("configure terminal", "router bgp 65000", "neighbor 10.1.1.11 bfd")
	b.atRest()
}

// Another daemon has the port: that is said, and BGP does not wait.
func TestBFDPortTaken(t *testing.T) {
	l := newLab(t, frrLib+"bgpd", "vtysh")
	node, router := l.pair()
	f := l.frr(router, frrNeighbour("10.1.1.11", 65011))
	thief := &frr{l: l, ns: node, dir: l.dir("frr:frr")}
	thief.write("zebra.conf", "")
	thief.write("bfdd.conf", "")
	thief.zebra()
	thief.bfdd()
	until(t, "bfdd on the node", func() bool {
		return strings.Contains(l.must("ip", "netns", "exec", node, "ss", "-Hlun"), ":3784")
	})
	s := l.speaker(node, nodeConfig(withBFD(v4Peer())))
	s.set(routes(service...))
	f.installed(service[0], "10.1.1.11")
	st := s.peer(0)
	if st.BFD == nil || !strings.Contains(st.BFD.Trouble, "failed to listen on UDP port 3784: bfdd (pid") {
		t.Errorf("unexpected state: %+v", st.BFD)
	}
	thief.stopBFDd()
	until(t, "BFD tried again", func() bool { return s.peer(0).BFD.Sent > 0 })
	if now := s.peer(0); !now.Since.Equal(st.Since) {
		t.Error("BGP was touched")
	}
}

// BFD comes and goes, and a change of its settings is negotiated, without a
// touch to BGP.
func TestUpdateBFD(t *testing.T) {
	b := newBFDLab(t, v4Peer())
	until(t, "BGP", func() bool { return b.s.peer(0).State == "ESTABLISHED" })
	b.f.installed(service[0], "10.1.1.11")
	since := b.s.peer(0).Since
	set := func(to *BFD) {
		t.Helper()
		b.conf.Peers[0].BFD = to
		b.s.update(b.conf)
	}
	for range 2 {
		set(&BFD{})
		until(t, "BFD tried", func() bool { st := b.s.peer(0).BFD; return st != nil && st.Sent > 0 })
		set(nil)
		until(t, "no BFD", func() bool { return b.s.peer(0).BFD == nil })
	}
	set(&BFD{})
	b.f.vtysh("configure terminal", "router bgp 65000", "neighbor 10.1.1.11 bfd profile slow")
	until(t, "BFD up", func() bool {
		st := b.s.peer(0).BFD
		return st != nil && st.State == "UP" && st.Detection == 900*time.Millisecond
	})
	up := b.s.peer(0).BFD.Since
	set(&BFD{Interval: 600 * time.Millisecond, Multiplier: 5})
	until(t, "slower", func() bool { return b.s.peer(0).BFD.Detection == 1800*time.Millisecond })
	set(&BFD{Interval: 300 * time.Millisecond, Strict: true})
	until(t, "as before", func() bool { return b.s.peer(0).BFD.Detection == 900*time.Millisecond })
	if st := b.s.peer(0); !st.Since.Equal(since) || !st.BFD.Since.Equal(up) {
		t.Errorf("a change of intervals touched a session: %+v, %+v", st, st.BFD)
	}
	if got := len(b.s.logs.lines("BFD went down")); got > 0 {
		t.Errorf("BFD was lost %d times", got)
	}
}

// A Close that nobody waits for still says Cease, but spends no detection time
// on BFD's good-bye.
func TestCloseInAHurry(t *testing.T) {
	p := v4Peer()
	p.BFD = &BFD{Interval: time.Second, Multiplier: 5}
	b := newBFDLab(t, p, "bfd")
	b.atRest()
	began := time.Now()
	b.s.do(order{Do: "hurry", Text: "in a hurry"})
	if took := time.Since(began); took > 2500*time.Millisecond {
		t.Errorf("closed in %v, about a detection time", took)
	}
	b.f.gone(service[0])
	until(t, "the Cease in the router's log", func() bool {
		return strings.Contains(b.f.log(), "in a hurry")
	})
}

// The goodbye: BGP's Cease first, then AdminDown for a detection time.
func TestCloseOrder(t *testing.T) {
	b := newBFDLab(t, withBFD(v4Peer()), "bfd")
	b.atRest()
	capture := exec.Command("ip", "netns", "exec", b.router, "tcpdump", "-i", "e0", "-tt", "-n", "-l", "-v", "-c", "40",
		"src 10.1.1.11 and (udp port 3784 or tcp port 179)")
	var seen logBook
	capture.Stdout, capture.Stderr = &seen, &seen
	if err := capture.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = capture.Process.Kill(); _ = capture.Wait() })
	until(t, "tcpdump sees BFD", func() bool { return len(seen.lines("State Up")) > 0 })
	began := time.Now()
	b.s.do(order{Do: "close", Text: "bye"})
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("closed in %v, less than a detection time", took)
	}
	until(t, "AdminDown and the Cease captured", func() bool {
		return len(seen.lines("AdminDown")) > 0 && len(seen.lines("Notification Message (3)")) > 0
	})
	all := strings.Join(seen.lines(""), "")
	if strings.Index(all, "AdminDown") < strings.Index(all, "Notification Message (3)") {
		t.Errorf("AdminDown before Cease:\n%s", all)
	}
	b.f.gone(service[0])
	if log := b.f.log(); strings.Contains(log, "6/10") && strings.LastIndex(log, "6/10") > strings.LastIndex(log, "bye") {
		t.Errorf("the router saw BFD first:\n%s", log)
	}
}

// bfdctl gives FRR's bfdd commands.
func (b bfdLab) bfdctl(commands ...string) {
	b.t.Helper()
	args := []string{"vtysh", "--vty_socket", b.f.dir, "-d", "bfdd", "-c", "configure terminal", "-c", "bfd"}
	for _, c := range commands {
		args = append(args, "-c", c)
	}
	b.must(args...)
}

// The router's operator takes BFD down: BGP stays, and a new session does not
// wait for it, even on a strict peer.
func TestPeerAdminDown(t *testing.T) {
	b := newBFDLab(t, v4Peer().with(func(p *Peer) { p.BFD = &BFD{Strict: true} }), "bfd profile slow")
	before := b.atRest()
	b.bfdctl("profile slow", "shutdown")
	until(t, "BFD taken down", func() bool { return b.s.peer(0).BFD.State == "DOWN" })
	until(t, "bfdd silent for a detection time", func() bool { return b.s.peer(0).BFD.Remote == "DOWN" })
	st := b.s.peer(0)
	if !st.Since.Equal(before.Since) || st.State != "ESTABLISHED" {
		t.Errorf("BGP was touched: %+v, was %+v", st, before)
	}
	tr := st.BFD.Transitions
	if got := tr[len(tr)-1].Reason; got != "the peer was taken down by its operator" {
		t.Errorf("unexpected reason %q", got)
	}
	b.f.vtysh("clear bgp *")
	until(t, "a new session", func() bool { n := b.s.peer(0); return n.State == "ESTABLISHED" && n.Since.After(st.Since) })
	st = b.s.peer(0)
	b.bfdctl("profile slow", "no shutdown")
	until(t, "BFD up", func() bool { return b.s.peer(0).BFD.State == "UP" })
	if now := b.s.peer(0); !now.Since.Equal(st.Since) {
		t.Errorf("BGP was touched: %+v, was %+v", now, st)
	}
}
