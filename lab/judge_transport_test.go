package lab_test

import (
	"strings"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/authority"
	"recuse/lab/topology"
)

// longHold is the longest hold of TestTransport.
const longHold = 2 * time.Second

// TestTransport has a resolver that answers over one transport only, or not
// more often than so and so, with clients that load it. It lives, so its node is
// second choice and then leaves to the others, and is never dead.
func TestTransport(t *testing.T) {
	both(t, func(t *testing.T, router string) {
		lab := network(t, topology.Options{Router: router, Switchable: true}, func(_ int, c tree) {
			s := service(c, 0)
			over := clone(s["checks"].([]any)[0]).(tree)
			over["name"], over["dns"].(tree)["server"] = "over-tcp", "tcp://127.0.0.1:53"
			s["checks"] = append(s["checks"].([]any), over)
			s["hold"] = tree{"min": "500ms", "max": longHold.String()}
		})
		n := lab.Nodes[0]
		settled(t, lab)
		drops := authority.Behaviour{Failure: authority.Drop}
		for _, part := range []struct {
			name string
			b    authority.Behaviour
			says string // in the reason
		}{
			{"UDP, not TCP", over(drops, authority.TCP), "over-tcp"},
			{"TCP, not UDP", over(drops, authority.UDP), "answers over TCP, not over UDP"},
		} {
			t.Run(part.name, func(t *testing.T) {
				half(t, lab, part.says, func() { must(t, n.Behave(t.Context(), part.b)) })
				repaired(t, lab)
			})
		}
		t.Run("UDP, TCP refused", func(t *testing.T) {
			half(t, lab, "over-tcp", func() { rules(t, n.Host, "tcp dport 53 reject with tcp reset") })
			unruled(t, n.Host)
			returns(t, lab, longHold)
		})
		t.Run("silent", func(t *testing.T) {
			client := asking(t, lab, 100)
			must(t, n.Behave(t.Context(), drops))
			announced(t, lab, others(lab, n)...)
			says(t, n, "dead", func(s control.Service) bool { return s.Level == "dead" && s.Stance == "withdrawn" })
			reported(t, client, "one node of three accepts and never answers")
			repaired(t, lab)
		})
		t.Run("limited", func(t *testing.T) { limited(t, lab) })
	})
}

// over is the behaviour over one transport alone.
func over(b authority.Behaviour, transport string) authority.Behaviour {
	b.Over = transport
	return b
}

// half breaks the first node's resolver so that it still shows life: the node is
// sick for that reason and leaves; nobody else moves.
func half(t *testing.T, lab *topology.Lab, why string, breaks func()) {
	t.Helper()
	n := lab.Nodes[0]
	client, seen := asking(t, lab, 100), len(history(t, n))
	covered(t, lab, func() {
		start := time.Now()
		breaks()
		announced(t, lab, others(lab, n)...)
		t.Logf("next hop gone within %v", time.Since(start).Round(time.Millisecond))
		says(t, n, "withdrawn and sick", func(s control.Service) bool {
			return s.Stance == "withdrawn" && s.Level == "sick" && strings.Contains(s.Reason, why)
		})
		neverDead(t, n, seen)
	})
	reported(t, client, "one node of three answers over one transport only")
	client = asking(t, lab, 100)
	pass(t, time.Second)
	lossless(t, client, 5)
}

// neverDead fails the test if the node's agent took its service for dead in any
// decision after the first seen ones.
func neverDead(t testing.TB, n *topology.Node, seen int) {
	t.Helper()
	list, words := since(history(t, n), seen)
	for _, e := range list {
		if e.Reason == "dead" {
			t.Errorf("dead, though it lives: %s", e.Detail)
		}
	}
	t.Logf("%s decided: %s", n.ShortName, words)
}

// rules makes the host's firewall apply a rule to what comes in.
func rules(t testing.TB, h *topology.Host, rule string) {
	t.Helper()
	for _, line := range []string{"add table inet block",
		"add chain inet block in { type filter hook input priority 0 ; }", "add rule inet block in " + rule} {
		_, err := h.Run(t.Context(), append([]string{"nft"}, strings.Fields(line)...)...)
		must(t, err)
	}
}

// unruled takes away what rules made.
func unruled(t testing.TB, h *topology.Host) {
	t.Helper()
	_, err := h.Run(t.Context(), "nft", "delete", "table", "inet", "block")
	must(t, err)
}

// limited has the first node's resolver answer 20 questions a second, of which
// its clients alone ask more. Those of the service go elsewhere, so it answers
// all, and comes back. Those that ask the node by its own address stay, and so
// does the verdict.
func limited(t *testing.T, lab *topology.Lab) {
	n := lab.Nodes[0]
	client, seen := asking(t, lab, 150), len(history(t, n))
	must(t, n.Behave(t.Context(), authority.Behaviour{Rate: 20, Over: authority.UDP}))
	covered(t, lab, func() {
		must(t, topology.Within(t.Context(), grayBound, "the limited node leave", func() (bool, string) {
			st, err := glance(t, n)
			must(t, err)
			return st.Services[0].Stance != "announced", st.Services[0].Reason
		}))
		returns(t, lab, longHold)
		stubborn := askingAt(t, lab, n.V4, 100, nil)
		says(t, n, "withdrawn, and what shows life", func(s control.Service) bool {
			return s.Stance == "withdrawn" && s.Level == "sick" &&
				(strings.Contains(s.Reason, "rate limit") || strings.Contains(s.Reason, "still answers"))
		})
		lasts(t, 5*time.Second, "sick and not dead", func() (bool, string) { // longer than silent_after
			st, err := glance(t, n)
			must(t, err)
			s := st.Services[0]
			return s.Stance == "withdrawn" && s.Level == "sick", s.Reason
		})
		reported(t, stubborn, "clients that stay")
		neverDead(t, n, seen)
	})
	reported(t, client, "one node of three answers 20 questions a second")
	repaired(t, lab)
}
