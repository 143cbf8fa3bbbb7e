package lab_test

import (
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recuse/lab/topology"
)

// ties is what a router says of its sessions with a node. As long as BGP and
// BFD are the same, they are the same sessions. Updates counts what came in
// UPDATE messages since the session began: messages on FRR, routes on BIRD.
type ties struct {
	BGP, BFD tie
	Updates  int
}

// tie is a session by its router's word: FRR counts, BIRD gives a time.
type tie struct {
	State    string
	Up, Down int
	Since    time.Time
}

// birdRounds is by how much a time that BIRD gives may change by itself.
const birdRounds = 50 * time.Millisecond

// tied asks a router about its sessions with a node.
func tied(t testing.TB, r *topology.Router, n *topology.Node) ties {
	t.Helper()
	if r.Kind == topology.BIRD {
		return birdTies(t, r, n)
	}
	return frrTies(t, r, n)
}

// untouched fails the test if the router's sessions with a node, or the number
// of UPDATEs that it got, are no longer what they were.
func untouched(t testing.TB, r *topology.Router, n *topology.Node, before ties) {
	t.Helper()
	if diff := cmp.Diff(before, tied(t, r, n), cmpopts.EquateApproxTime(birdRounds)); diff != "" {
		t.Errorf("%s says of its sessions with %s (-before +after):\n%s", r.ShortName, n.ShortName, diff)
	}
}

// sameSessions is untouched for a node that had UPDATEs to send.
func sameSessions(t testing.TB, r *topology.Router, n *topology.Node, before ties) {
	t.Helper()
	before.Updates = tied(t, r, n).Updates
	untouched(t, r, n, before)
}

// show asks the router's daemons.
func show(t testing.TB, r *topology.Router, question string) string {
	t.Helper()
	out, err := r.Show(t.Context(), question)
	must(t, err)
	return out
}

// frrTies asks FRR how often each session has come up, and gone down.
func frrTies(t testing.TB, r *topology.Router, n *topology.Node) ties {
	t.Helper()
	var neighbors map[string]struct {
		State string `json:"bgpState"`
		Up    int    `json:"connectionsEstablished"`
		Down  int    `json:"connectionsDropped"`
		Stats struct {
			Updates int `json:"updatesRecv"`
		} `json:"messageStats"`
	}
	must(t, json.Unmarshal([]byte(show(t, r, "show bgp neighbors json")), &neighbors))
	one := neighbors[n.V4.String()]
	s := ties{BGP: tie{State: one.State, Up: one.Up, Down: one.Down}, Updates: one.Stats.Updates}
	out := show(t, r, "show bfd peers counters json")
	if !strings.HasPrefix(out, "[") {
		return s // no bfdd
	}
	var beats []struct {
		Peer netip.Addr `json:"peer"`
		Up   int        `json:"session-up"`
		Down int        `json:"session-down"`
	}
	must(t, json.Unmarshal([]byte(out), &beats))
	for _, b := range beats {
		if b.Peer == n.V4 {
			s.BFD = tie{Up: b.Up, Down: b.Down}
		}
	}
	return s
}

// birdTies asks BIRD since when each session stands as it does.
func birdTies(t testing.TB, r *topology.Router, n *topology.Node) (s ties) {
	t.Helper()
	for line := range strings.Lines(show(t, r, "show protocols all recuse_"+n.ShortName)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 5 && f[0] == "recuse_"+n.ShortName:
			s.BGP = tie{State: f[5], Since: birdTime(t, f[4])}
		case len(f) > 2 && f[0] == "Import" && (f[1] == "updates:" || f[1] == "withdraws:"):
			received, err := strconv.Atoi(f[2])
			must(t, err)
			s.Updates += received
		}
	}
	for line := range strings.Lines(show(t, r, "show bfd sessions")) {
		if f := strings.Fields(line); len(f) > 3 && f[0] == n.V4.String() {
			s.BFD = tie{State: f[2], Since: birdTime(t, f[3])}
		}
	}
	return s
}

// birdTime reads a time of this day as BIRD writes it.
func birdTime(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse("15:04:05.000", text)
	must(t, err)
	return at
}
