// The acceptance tests of the whole: the built agent in the lab's namespaces,
// with real routers, resolvers and kernels. They are judged from outside: by
// what a router's kernel has, by what is on the wire, by the client's answers
// and by what the commands print.
//
// They need root and the lab's tools. RECUSE_TEST_REQUIRE_ROOT=1 makes a lack
// of either a failure; without it they are skipped and say why.
package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recuse/agent/control"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

// patience bounds every wait for something that must happen. It is far above
// what any of it takes, also on a machine with other work.
const patience = 30 * time.Second

// The lab's service addresses.
var (
	anycast4 = topology.DefaultAddresses()[0]
	anycast6 = topology.DefaultAddresses()[1]
)

// tree is a recuse.yaml.
type tree = map[string]any

// network raises a lab whose configurations are changed by edit (which may be
// nil), each node's waits and checks made quick before.
func network(t testing.TB, o topology.Options, edit func(node int, c tree)) *topology.Lab {
	t.Helper()
	if os.Getenv("RECUSE_TEST_UNPRIVILEGED") == "1" {
		t.Skip("skipped: RECUSE_TEST_UNPRIVILEGED=1, and a lab needs root")
	}
	o.Recuse = recuse(t)
	o.Configure = func(node int, c tree) {
		quick(c)
		if edit != nil {
			edit(node, c)
		}
	}
	return labtest.Start(t, o)
}

// quick shortens what a test would only wait for. The checks stay within the
// budget of 600 probes a minute; the holds are over before anybody looks.
func quick(c tree) {
	for _, s := range c["services"].([]any) {
		s := s.(tree)
		s["drain"], s["yield_wait"], s["drain_timeout"] = "300ms", "1s", "3s"
		s["hold"] = tree{"min": "50ms", "max": "100ms"}
		for _, check := range s["checks"].([]any) {
			check := check.(tree)
			check["interval"], check["timeout"], check["rise"] = "200ms", "300ms", 3
		}
	}
}

// unhurried makes the DNS checks of a configuration bear a box that is short of
// time, for tests in which no check is meant to fall.
func unhurried(c tree) {
	for _, s := range c["services"].([]any) {
		for _, check := range s.(tree)["checks"].([]any) {
			if check := check.(tree); check["dns"] != nil {
				check["timeout"], check["slow"] = "3s", tree{"over": "1400ms"}
			}
		}
	}
}

// service is the n-th service of a configuration.
func service(c tree, n int) tree { return c["services"].([]any)[n].(tree) }

// peer is the n-th peer of a configuration.
func peer(c tree, n int) tree { return c["bgp"].(tree)["peers"].([]any)[n].(tree) }

// must ends the test for an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until a condition holds; saw tells how things stand.
func eventually(t testing.TB, what string, condition func() (ok bool, saw string)) {
	t.Helper()
	must(t, topology.Within(t.Context(), patience, what, condition))
}

// announced waits until every router's kernel has exactly these nodes.
func announced(t testing.TB, lab *topology.Lab, nodes ...*topology.Node) {
	t.Helper()
	must(t, lab.WaitAnnounced(t.Context(), patience, nodes...))
}

// serving waits until every agent says that it is announced, and the routers'
// kernels agree. A router may still have the routes of a run that has ended.
func serving(t testing.TB, lab *topology.Lab) {
	t.Helper()
	for _, n := range lab.Nodes {
		says(t, n, "announced", func(s control.Service) bool { return s.Stance == "announced" })
	}
	announced(t, lab, lab.Nodes...)
}

// hops waits until a router's kernel has exactly these next hops of a prefix.
func hops(t testing.TB, r *topology.Router, p netip.Prefix, want ...netip.Addr) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s via %v on %s", p, want, r.ShortName), func() (bool, string) {
		got, err := r.NextHops(p)
		return err == nil && slices.Equal(got, want), fmt.Sprint(got, " ", err)
	})
}

// others are all nodes of the lab but one.
func others(lab *topology.Lab, n *topology.Node) []*topology.Node {
	return slices.DeleteFunc(slices.Clone(lab.Nodes), func(o *topology.Node) bool { return o == n })
}

// built is the directory of the programs, which are built once.
var built struct {
	sync.Mutex
	dir string
}

// recuse is the program under test.
func recuse(t testing.TB) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		built.dir = labtest.Build(t)
	}
	return filepath.Join(built.dir, "recuse")
}

// host is what programs run on.
type host interface {
	Run(ctx context.Context, argv ...string) (string, error)
}

// command runs recuse on a node. It returns the exit code and all output; a
// program that does not end by itself within patience fails the test.
func command(t testing.TB, n *topology.Node, args ...string) (code int, out string) {
	t.Helper()
	return program(t, n, append([]string{recuse(t)}, args...)...)
}

// program runs a program on a host.
func program(t testing.TB, h host, argv ...string) (code int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := h.Run(ctx, argv...)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Fatalf("%s did not end within %v: %s", strings.Join(argv, " "), patience, out)
	case errors.As(err, &exit):
		return exit.ExitCode(), out
	case err != nil:
		t.Fatal(err)
	}
	return 0, out
}

// status is what the node's agent says of itself, and the exit code of the
// command that asked.
func status(t testing.TB, n *topology.Node) (control.Status, int) {
	t.Helper()
	code, out := command(t, n, "status", "--json", "-c", n.Path(topology.ConfigFile))
	var st control.Status
	if code == 0 || code == 3 {
		if err := json.Unmarshal([]byte(out), &st); err != nil {
			t.Fatalf("failed to read status of %s: %v: %s", n.ShortName, err, out)
		}
	}
	return st, code
}

// glance is status without the command, by the socket that the command asks: to
// look often costs nothing.
func glance(t testing.TB, n *topology.Node) (control.Status, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return control.NewClient(n.Path("recuse.sock")).Status(ctx)
}

// says waits until the status of the node's first service satisfies ok.
func says(t testing.TB, n *topology.Node, what string, ok func(control.Service) bool) {
	t.Helper()
	eventually(t, n.ShortName+" say "+what, func() (bool, string) {
		st, err := glance(t, n)
		if err != nil || len(st.Services) == 0 {
			return false, fmt.Sprint(err)
		}
		return ok(st.Services[0]), fmt.Sprintf("%+v", st.Services[0])
	})
}

// reason waits until the first service is withdrawn and its reason has a text.
func reason(t testing.TB, n *topology.Node, text string) {
	t.Helper()
	says(t, n, fmt.Sprintf("withdrawn for %q", text), func(s control.Service) bool {
		return s.Stance == "withdrawn" && strings.Contains(s.Reason, text)
	})
}

// logged waits until the node's agent has written a line with all the texts
// after the first skip bytes of its log.
func logged(t testing.TB, n *topology.Node, skip int, texts ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s log %q", n.ShortName, texts), func() (bool, string) {
		tail := n.Agent.Log()[skip:]
		for line := range strings.Lines(tail) {
			if !slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(line, s) }) {
				return true, ""
			}
		}
		return false, tail
	})
}

// calm is for how long nothing must have changed in a router's kernel before it
// counts as being at rest. A router acts up to 100 ms later than a status that
// tells of the same event, and a busy one later still.
const calm = 700 * time.Millisecond

// atRest waits until a router's kernel has changed nothing of a prefix for calm.
func atRest(t testing.TB, r *topology.Router, p netip.Prefix) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	events, err := r.Watch(ctx)
	must(t, err)
	for timer := time.NewTimer(calm); ; {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("the routes of %s on %s do not come to rest within %v", p, r.ShortName, patience)
			}
			if e.Prefix == p {
				timer.Reset(calm)
			}
		case <-timer.C:
			return
		}
	}
}

// never watches a router's kernel, once it is at rest, for as long as f runs,
// and fails the test if a route of the prefix changed meanwhile.
func never(t testing.TB, r *topology.Router, p netip.Prefix, f func()) {
	t.Helper()
	atRest(t, r, p)
	ctx, cancel := context.WithCancel(t.Context())
	events, err := r.Watch(ctx)
	must(t, err)
	f()
	cancel()
	for e := range events {
		if e.Prefix == p {
			t.Errorf("%s changed its route of %s: via %v", r.ShortName, p, e.NextHops)
		}
	}
}

// stay waits until every router's kernel has exactly these nodes, and fails the
// test if that changes within a time.
func stay(t testing.TB, lab *topology.Lab, d time.Duration, nodes ...*topology.Node) {
	t.Helper()
	announced(t, lab, nodes...)
	atRest(t, lab.Router, anycast4)
	lasts(t, d, fmt.Sprintf("%d next hops", len(nodes)), func() (bool, string) {
		got, err := lab.Router.NextHops(anycast4)
		return len(got) == len(nodes) && err == nil, fmt.Sprint(got, err)
	})
}

// lasts looks at a condition again and again for a time, and fails the test as
// soon as it does not hold.
func lasts(t testing.TB, d time.Duration, what string, condition func() (ok bool, saw string)) {
	t.Helper()
	end := time.Now().Add(d)
	must(t, topology.Within(t.Context(), d+patience, what, func() (bool, string) {
		if ok, saw := condition(); !ok {
			t.Fatalf("failed to see %s for %v: %s", what, d, saw)
		}
		return time.Now().After(end), "it lasts"
	}))
}
