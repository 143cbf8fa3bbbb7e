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
// has said good-bye, since a router drops BGP for it; for about one detection
// time, so that the router hears it; and only then the link goes down.
func TestStopWithBFD(t *testing.T) {
	routers(t, func(t *testing.T, router string) {
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
		link, said := l.down(topology.AgentLink), down[len(down)-1].Sub(down[0])
		t.Logf("Cease to AdminDown %v, AdminDown for %v in %d packets, then link down after %v",
			down[0].Sub(bye), said, len(down), link.Sub(down[len(down)-1]))
		if down[0].Before(bye) || up[len(up)-1].After(down[0]) {
			t.Errorf("AdminDown %v after the Cease, the last Up %v after it", down[0].Sub(bye), up[len(up)-1].Sub(down[0]))
		}
		// The last packet leaves within an interval of the end.
		if said < detect-2*pace.Interval || said > 10*detect || link.Before(down[0].Add(detect*9/10)) {
			t.Errorf("AdminDown said for %v, link down %v after its beginning; detection time %v", said, link.Sub(down[0]), detect)
		}
	})
}
