package lab_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"recuse/lab/topology"
)

// beats is a record of the BFD packets that a node sends.
type beats struct {
	t    testing.TB
	path string
}

// listens begins to record the node's BFD packets of one hop.
func listens(t testing.TB, n *topology.Node) *beats {
	t.Helper()
	b := &beats{t, filepath.Join(t.TempDir(), "bfd")}
	background(t, n, "sh", "-c", "exec tcpdump -i lan0 -n -l -tt -vv --immediate-mode -Z root"+
		" udp port 3784 and src host "+n.V4.String()+" >"+b.path)
	eventually(t, "tcpdump begin", func() (bool, string) { return len(b.states("Up")) > 0, "nothing" })
	return b
}

// states are the times at which the node sent that state. A packet is several
// lines, of which the first has the time and a later one the state.
func (b *beats) states(state string) (list []time.Time) {
	text, _ := os.ReadFile(b.path) // not there yet: no packets
	var at time.Time
	for line := range strings.Lines(string(text)) {
		if stamp, _, ok := strings.Cut(line, " IP "); ok {
			seconds, err := strconv.ParseFloat(stamp, 64)
			must(b.t, err)
			whole, part := math.Modf(seconds)
			at = time.Unix(int64(whole), int64(part*1e9))
		}
		if strings.Contains(line, "Control, State "+state+",") {
			list = append(list, at)
		}
	}
	return list
}

// TestStopWithBFD stops an agent in order. BFD says AdminDown only after BGP
// has said good-bye, since a router drops BGP for it; and the link goes down only
// after a detection time of that, in which the router hears it.
func TestStopWithBFD(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := guarded(t, topology.Options{Router: router}, nil)
		n, pace := lab.Nodes[0], paces[0].bfd
		w, b, l, client := capture(t, n), listens(t, n), linkMonitor(t, n), asking(t, lab, 100)
		lasts(t, 500*time.Millisecond, "traffic", func() (bool, string) { return true, "" })
		must(t, n.Agent.Signal(sigterm))
		onlyRouted(t, lab, lab.Nodes[1])
		ends(t, n, 0)
		if f := client.end(); f.Lost != 0 || f.Asked < 50 {
			t.Errorf("under the stop: %+v", f)
		}
		list := w.sent(func(l []message) bool { return count(l, "notification") > 0 })
		bye, _ := span(list, "notification")
		var down []time.Time
		eventually(t, "AdminDown on the wire", func() (bool, string) {
			down = b.states("AdminDown")
			return len(down) > 0, fmt.Sprint(down)
		})
		up := b.states("Up")
		detect := pace.Interval * time.Duration(pace.Multiplier)
		link := l.down(topology.AgentLink)
		t.Logf("Cease to AdminDown %v, %d packets of it, link down %v after the first",
			down[0].Sub(bye), len(down), link.Sub(down[0]))
		if down[0].Before(bye) || up[len(up)-1].After(down[0]) {
			t.Errorf("AdminDown %v after the Cease, the last Up %v after it", down[0].Sub(bye), up[len(up)-1].Sub(down[0]))
		}
		// A session that is not up sends once a second: in less than that, one
		// packet or two. BIRD ends its own at the Cease, often before ours says
		// AdminDown, and then nobody is left to wait for.
		least := map[string]time.Duration{topology.FRR: detect * 9 / 10}[router]
		if d := link.Sub(down[0]); d < least || d > 10*detect {
			t.Errorf("link down %v after the first AdminDown; detection time %v", d, detect)
		}
	})
}
