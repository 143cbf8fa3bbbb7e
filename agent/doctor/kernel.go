package doctor

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// kernelConfig returns the kernel's build configuration.
func (b *Box) kernelConfig() (string, error) {
	if release, err := b.sysctl("kernel/osrelease"); err == nil {
		if text, err := b.read("/boot/config-" + release); err == nil {
			return "\n" + text + "\n", nil
		}
	}
	f, err := b.Files.Open("proc/config.gz")
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return "\n" + string(text) + "\n", err
}

// fullShare is how full the table of connections may be, in per cent.
const fullShare = 80

// conntrack looks at the table of connections, which a resolver fills fast.
func conntrack(b *Box) []Finding {
	count, err := b.number("net/netfilter/nf_conntrack_count")
	most, errMost := b.number("net/netfilter/nf_conntrack_max")
	switch err = errors.Join(err, errMost); {
	case errors.Is(err, fs.ErrNotExist):
		return nil // not in use
	case err != nil:
		return unread(err, "a full table of connections drops queries")
	}
	const why = "every query is an entry for half a minute, and what finds no room is dropped without a word"
	const out = "notrack for port 53, both ways, in the firewall; or sysctl -w net.netfilter.nf_conntrack_max=NUMBER"
	var found []Finding
	if most > 0 && count*100 >= most*fullShare {
		found = append(found, Finding{Severity: Warning,
			Seen: fmt.Sprintf("net.netfilter.nf_conntrack_count = %d of nf_conntrack_max = %d", count, most),
			Why:  why, WayOut: out})
	}
	if n := b.conntrackDrops(); n > 0 {
		found = append(found, Finding{Severity: Note,
			Seen: fmt.Sprintf("/proc/net/stat/nf_conntrack: %d packets dropped since the start of the box", n),
			Why:  "a full table drops queries without a word; a few such drops come of clients that send two questions at once, and of stray TCP", WayOut: out})
	}
	return found
}

// number reads a kernel setting that is one.
func (b *Box) number(key string) (int, error) {
	text, err := b.sysctl(key)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// conntrackDrops sums, over the processors, the packets that were dropped, most
// of them for want of room.
func (b *Box) conntrackDrops() uint64 {
	text, err := b.read("/proc/net/stat/nf_conntrack")
	if err != nil {
		return 0
	}
	column, total := -1, uint64(0)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		for i, name := range f {
			if name == "drop" {
				column = i
			}
		}
		if column >= 0 && column < len(f) {
			n, _ := strconv.ParseUint(f[column], 16, 64) // the heading is none
			total += n
		}
	}
	return total
}

// The capabilities (capabilities(7)) that the agent may need, as bits.
const (
	capNetBind  = 10
	capNetAdmin = 12
)

// lowPorts are those that need a capability.
const lowPorts = 1024

// capabilities looks at what the running agent may do.
func capabilities(b *Box) []Finding {
	if !b.Agent.Up() {
		return nil
	}
	text, err := b.read(fmt.Sprintf("/proc/%d/status", b.Agent.PID))
	if err != nil {
		return unread(err, "the agent needs CAP_NET_ADMIN")
	}
	_, rest, _ := strings.Cut(text, "CapEff:")
	word, _, _ := strings.Cut(rest, "\n")
	have, err := strconv.ParseUint(strings.TrimSpace(word), 16, 64)
	if err != nil {
		return unread(err, "the agent needs CAP_NET_ADMIN")
	}
	var found []Finding
	lacks := func(bit int, name, why string) {
		if have&(1<<bit) == 0 {
			found = append(found, Finding{Severity: Error,
				Seen: fmt.Sprintf("the agent (pid %d) runs without %s", b.Agent.PID, name),
				Why:  why, WayOut: "AmbientCapabilities=" + name + " in the unit (deploy/systemd), or run it as root"})
		}
	}
	lacks(capNetAdmin, "CAP_NET_ADMIN", "it cannot set links and addresses")
	if l := b.Config.BGP.Listen; l.IsValid() && l.Port() < lowPorts {
		lacks(capNetBind, "CAP_NET_BIND_SERVICE", fmt.Sprintf("it cannot listen on port %d", l.Port()))
	}
	return found
}

// ordinary is the shortest BFD detection time that holds on a busy box without
// real-time scheduling.
const ordinary = 300 * time.Millisecond

// scheduling looks at whether fast BFD has the processor when it needs it.
func scheduling(b *Box) []Finding {
	var found []Finding
	for _, p := range b.Agent.Status.Peers {
		i, known := b.configured(p.Address)
		if p.BFD == nil || !known || b.Config.BGP.Peers[i].BFD == nil || realtime(p.BFD.Scheduling) {
			continue
		}
		want := b.Config.BGP.Peers[i].BFD
		if d := want.Interval * time.Duration(want.Multiplier); d < ordinary {
			found = append(found, Finding{Severity: Warning,
				Seen:   fmt.Sprintf("the agent runs under %s, and bgp.peers[%d].bfd detects within %s", p.BFD.Scheduling, i, d),
				Why:    "on a busy box its packets can be later than that, and the router takes it for dead",
				WayOut: "CPUSchedulingPolicy=rr in the unit (deploy/systemd), or bfd: {interval: 100ms} and more"})
		}
	}
	return found
}

// realtime tells whether the agent's word for its scheduling, empty where it does
// not know, is one that goes before ordinary processes.
func realtime(word string) bool {
	return word == "" || strings.HasPrefix(word, "SCHED_RR") || strings.HasPrefix(word, "SCHED_FIFO")
}
