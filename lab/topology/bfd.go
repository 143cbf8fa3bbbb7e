package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// BFD are the timers of BFD, the same at both ends.
type BFD struct {
	Interval   time.Duration // of sending, and the least of receiving
	Multiplier int
}

// String is how people write it.
func (b BFD) String() string { return fmt.Sprintf("%v x %d", b.Interval, b.Multiplier) }

// tree is a peer's `bfd` in a recuse.yaml.
func (b BFD) tree() map[string]any {
	return map[string]any{"interval": b.Interval.String(), "multiplier": b.Multiplier}
}

// WaitBFD waits until BFD is up between these nodes and every router, by the
// word of both ends. After a flap BGP and the route are back seconds before it
// is, and a node that is frozen in between costs a hold time.
func (l *Lab) WaitBFD(ctx context.Context, d time.Duration, nodes ...*Node) error {
	what := fmt.Sprintf("BFD of %d nodes up at both ends", len(nodes))
	return Within(ctx, d, what, func() (bool, string) {
		for _, r := range l.Routers {
			states, err := r.BFD(ctx)
			if err != nil {
				return false, err.Error()
			}
			for _, n := range nodes {
				if states[n.V4] != "up" && states[n.V6] != "up" {
					return false, fmt.Sprintf("%s says %v", r.ShortName, states)
				}
			}
		}
		for _, n := range nodes {
			if ok, saw := n.bfdUp(ctx); !ok {
				return false, saw
			}
		}
		return true, ""
	})
}

// bfdUp reports whether all the node's BFD is up by its agent's word. A node
// without a running agent has no word.
func (n *Node) bfdUp(ctx context.Context) (ok bool, saw string) {
	if n.Agent == nil || !n.Agent.Running() {
		return true, ""
	}
	s, err := n.Status(ctx)
	if err != nil {
		return false, err.Error()
	}
	for _, p := range s.Peers {
		if p.BFD == nil || p.BFD.State != "UP" || p.BFD.Remote != "UP" {
			return false, fmt.Sprintf("%s says %+v of %s", n.ShortName, p.BFD, p.Address)
		}
	}
	return true, ""
}

// BFD is the state of the router's BFD sessions by its own word, in lower case
// ("up", "down", "init", "shutdown"), by the other end's address.
func (r *Router) BFD(ctx context.Context) (map[netip.Addr]string, error) {
	question, read := "show bfd peers json", frrBFD
	if r.Kind == BIRD {
		question, read = "show bfd sessions", birdBFD
	}
	out, err := r.Show(ctx, question)
	if err != nil {
		return nil, err
	}
	states, err := read(out)
	if err != nil {
		return nil, fmt.Errorf("failed to read BFD sessions of %s: %w: %q", r.ShortName, err, out)
	}
	return states, nil
}

// frrBFD reads `show bfd peers json`.
func frrBFD(out string) (map[netip.Addr]string, error) {
	var peers []struct {
		Peer   netip.Addr `json:"peer"`
		Status string     `json:"status"`
	}
	if err := json.Unmarshal([]byte(out), &peers); err != nil {
		return nil, err
	}
	states := map[netip.Addr]string{}
	for _, p := range peers {
		states[p.Peer] = p.Status
	}
	return states, nil
}

// birdBFD reads `show bfd sessions`: below the head a line for each session,
// which begins with address, interface, state.
func birdBFD(out string) (map[netip.Addr]string, error) {
	lines := strings.Split(out, "\n")
	head := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "IP address") })
	if head < 0 {
		return nil, errors.New("no head of a table")
	}
	states := map[netip.Addr]string{}
	for _, line := range lines[head+1:] {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		a, err := netip.ParseAddr(fields[0])
		if err != nil {
			return nil, err
		}
		states[a] = strings.ToLower(fields[2])
	}
	return states, nil
}
