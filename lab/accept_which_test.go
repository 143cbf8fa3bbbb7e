package lab_test

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/topology"
)

// survey is what tools read of `recuse which --json`.
type survey struct {
	Asked int
	Nodes []struct {
		Node, By string
		Answers  int
	}
	Repeated, Moved int
}

// answers are the answers of each node.
func (s survey) answers() map[string]int {
	n := map[string]int{}
	for _, x := range s.Nodes {
		n[x.Node+" by "+x.By] = x.Answers
	}
	return n
}

// which asks an address from the client, and returns the exit code too.
func which(t testing.TB, lab *topology.Lab, at netip.Addr) (survey, int) {
	t.Helper()
	code, out := program(t, lab.Client, recuse(t), "which", at.String(), "--json", "--rate", "500")
	var s survey
	if err := json.Unmarshal([]byte(out[max(0, strings.Index(out, "{")):]), &s); err != nil {
		t.Fatalf("failed to read the survey: %v: %s", err, out)
	}
	return s, code
}

// TestWhich asks from the client which node answers: three with about a third
// each, then the only one that is left, then nobody.
func TestWhich(t *testing.T) {
	t.Parallel()
	lab := network(t, topology.Options{}, func(_ int, c tree) { unhurried(c) })
	serving(t, lab)
	three := []string{"n1 by NSID", "n2 by NSID", "n3 by NSID"}
	for _, p := range []netip.Prefix{anycast4, anycast6} {
		s, code := which(t, lab, p.Addr())
		got := s.answers()
		if d := cmp.Diff(three, slices.Sorted(maps.Keys(got))); d != "" || code != 0 {
			t.Fatalf("exit code %d, unexpected nodes at %s (-want +got):\n%s", code, p, d)
		}
		// 33 of 200 are five standard deviations from a third.
		if fewest := slices.Min(slices.Collect(maps.Values(got))); fewest < 33 || s.Repeated != 20 || s.Moved != 0 {
			t.Errorf("unexpected survey of %s: %+v", p, s)
		}
	}
	for _, n := range lab.Nodes[:2] {
		must(t, n.Resolver.Kill())
	}
	announced(t, lab, lab.Nodes[2])
	s, code := which(t, lab, anycast4.Addr())
	if d := cmp.Diff(map[string]int{"n3 by NSID": 200}, s.answers()); d != "" || code != 0 {
		t.Errorf("exit code %d, unexpected answers of the last node (-want +got):\n%s", code, d)
	}
	must(t, lab.Nodes[2].Resolver.Kill())
	announced(t, lab)
	if s, code := which(t, lab, anycast4.Addr()); code != 4 || len(s.Nodes) != 0 {
		t.Errorf("nobody serves: exit code %d, %+v", code, s)
	}
}
