package lab_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/topology"
)

// TestBadInput starts agents that cannot be: one clear error that says what to
// do, the right exit code, and nothing changed on the box.
func TestBadInput(t *testing.T) {
	t.Parallel()
	var base tree
	lab := network(t, topology.Options{Nodes: 1, WithoutAgent: true}, func(_ int, c tree) { base = c })
	n := lab.Nodes[0]
	kind := service(base, 0)["link"].(tree)["kind"]
	taken := netip.MustParsePrefix("10.9.6.53/32")
	must(t, n.AddAddress("lo", taken))
	before := box(t, n)
	tests := []struct {
		name string
		edit func(c tree)
		code int
		says []string
	}{
		{"missing and wrong settings", func(c tree) {
			delete(c["bgp"].(tree), "asn")
			delete(peer(c, 0), "address")
			service(c, 0)["settle"] = 5
			service(c, 0)["setle"] = "1s"
			service(c, 0)["addresses"] = []string{"10.9.9.0/24"}
		}, 2, []string{"bgp.asn", "bgp.peers[0].address", "services[0].settle", "services[0].setle", "did you mean settle?",
			"services[0].addresses[0]"}},
		{"address in a connected subnet", func(c tree) {
			service(c, 0)["addresses"] = []string{"10.60.0.99/32", "2001:db8:60::99/128"}
		}, 2, []string{`services[0].addresses[0]: "10.60.0.99/32"`, `services[0].addresses[1]: "2001:db8:60::99/128"`,
			"lan0", "choose an address outside"}},
		{"address on another link", func(c tree) { service(c, 0)["addresses"] = []string{taken.String()} },
			2, []string{fmt.Sprintf("services[0].addresses[0]: %q", taken), "already on lo", "ip address del"}},
		{"password file that is not there", func(c tree) { peer(c, 0)["password_file"] = "/nonexistent/password" },
			2, []string{`bgp.peers[0].password_file: "/nonexistent/password"`}},
		{"password file that is a directory", func(c tree) { peer(c, 0)["password_file"] = n.Dir },
			2, []string{"bgp.peers[0].password_file", n.Dir}},
		{"kernel without the kind", func(c tree) { service(c, 0)["link"].(tree)["kind"] = "dummy" },
			1, []string{"dummy", "ifb", "bridge"}},
		{"link of somebody else", func(c tree) { service(c, 0)["link"].(tree)["name"] = "lan0" },
			1, []string{"lan0", "link.name"}},
		{"socket path that is a file", func(c tree) { c["control"] = tree{"socket": n.Path("unbound.conf")} },
			1, []string{"control.socket", n.Path("unbound.conf"), "no socket"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.name, "kernel") && kind == "dummy" {
				t.Skip("skipped: this kernel has dummy")
			}
			path := variant(t, n, base, tt.edit)
			refused(t, n, before, tt.code, tt.says, recuse(t), "run", "-c", path)
		})
	}
	t.Run("no such file", func(t *testing.T) {
		path := n.Path("absent.yaml")
		refused(t, n, before, 2, []string{path}, recuse(t), "run", "-c", path)
	})
	t.Run("no permission", func(t *testing.T) { noPermission(t, n, base, before) })
	t.Run("second agent", func(t *testing.T) { secondAgent(t, lab, base) })
}

// variant writes an edited copy of a configuration and returns its path.
func variant(t *testing.T, n *topology.Node, base tree, edit func(tree)) string {
	t.Helper()
	c := clone(base).(tree)
	edit(c)
	must(t, n.WriteConfig("variant.yaml", c))
	return n.Path("variant.yaml")
}

// clone copies a tree to its leaves.
func clone(v any) any {
	switch v := v.(type) {
	case tree:
		c := tree{}
		for k, e := range v {
			c[k] = clone(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = clone(e)
		}
		return c
	}
	return v
}

// refused runs a program that must end by itself with that code, say all the
// texts, and leave the box as it was.
func refused(t *testing.T, n *topology.Node, before string, code int, says []string, argv ...string) {
	t.Helper()
	start := time.Now()
	got, out := program(t, n, argv...)
	t.Logf("exit code %d after %v: %s", got, time.Since(start).Round(time.Millisecond), out)
	if got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	for _, text := range says {
		if !strings.Contains(out, text) {
			t.Errorf("nothing said of %q", text)
		}
	}
	if strings.Contains(out, "goroutine ") {
		t.Error("it panicked")
	}
	if d := cmp.Diff(before, box(t, n)); d != "" {
		t.Errorf("the box has changed (-before +after):\n%s", d)
	}
}

// nobody is a user without any right.
const nobody = "65534"

// noPermission runs the agent as a user without capabilities. The program and
// the file are put where that user can read them.
func noPermission(t *testing.T, n *topology.Node, base tree, before string) {
	path := variant(t, n, base, func(c tree) {
		c["control"] = tree{"socket": n.Path("open/recuse.sock")}
		c["state_dir"] = n.Path("open")
	})
	must(t, os.Mkdir(n.Path("open"), 0o777))
	must(t, os.Chmod(n.Path("open"), 0o777)) // whatever the umask
	must(t, os.Chmod(path, 0o644))
	bin := n.Path("recuse")
	if out, err := exec.Command("cp", recuse(t), bin).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must(t, os.Chmod(bin, 0o755))
	refused(t, n, before, 1, []string{"CAP_NET_ADMIN"},
		"setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups", "--bounding-set=-all", bin, "run", "-c", path)
	if _, err := os.Stat(n.Path("open/recuse.sock")); !os.IsNotExist(err) {
		t.Errorf("control socket left: %v", err)
	}
}

// secondAgent starts a second agent beside one that serves, in its ways, and
// looks that the first is not disturbed.
func secondAgent(t *testing.T, lab *topology.Lab, base tree) {
	n := lab.Nodes[0]
	must(t, n.Agent.Start())
	announced(t, lab, n)
	serving := box(t, n)
	pid := fmt.Sprintf("pid %d", n.Agent.PID())
	tests := []struct {
		name string
		edit func(c tree)
		says []string
	}{
		{"same file", func(tree) {}, []string{topology.AgentLink, pid}},
		{"same socket", func(c tree) {
			service(c, 0)["link"].(tree)["name"] = "anycast7"
			service(c, 0)["addresses"] = []string{"10.9.7.53/32"}
		}, []string{"control.socket", n.Path("recuse.sock"), "another agent"}},
		{"same link", func(c tree) {
			c["control"] = tree{"socket": n.Path("second.sock")}
			service(c, 0)["addresses"] = []string{"10.9.7.53/32"}
		}, []string{topology.AgentLink, pid}},
		{"same address", func(c tree) {
			c["control"] = tree{"socket": n.Path("second.sock")}
			service(c, 0)["link"].(tree)["name"] = "anycast7"
		}, []string{anycast4.Addr().String(), pid}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			never(t, lab.Router, anycast4, func() {
				refused(t, n, serving, 1, tt.says, recuse(t), "run", "-c", variant(t, n, base, tt.edit))
			})
			if _, code := status(t, n); code != 0 {
				t.Errorf("exit code of the first agent's status %d", code)
			}
			if _, err := os.Stat(n.Path("second.sock")); !os.IsNotExist(err) {
				t.Errorf("control socket of the second left: %v", err)
			}
		})
	}
}

// TestCheck has `recuse check` judge files without an agent.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(text string) string {
		path := dir + "/recuse.yaml"
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	good := "bgp: {asn: 65011, peers: [{address: 192.0.2.1, asn: 65000}]}\n" +
		"services: [{addresses: [198.51.100.53/32], checks: [{name: a, dns: {server: \"127.0.0.1\"}}]}]\n"
	tests := []struct {
		name, path string
		code       int
		says       []string
	}{
		{"right", write(good), 0, []string{"is valid"}},
		{"absent", dir + "/absent.yaml", 2, []string{dir + "/absent.yaml"}},
	}
	for _, tt := range tests {
		checks(t, tt.name, tt.path, tt.code, tt.says)
	}
	checks(t, "three errors", write(strings.NewReplacer("65011", "0", "198.51.100.53/32", "198.51.100.0/24",
		"name: a", "name: a, interval: 5").Replace(good)), 2,
		[]string{"bgp.asn", "services[0].addresses[0]", "services[0].checks[0].interval", "missing unit"})
}

// checks runs `recuse check` on a file.
func checks(t *testing.T, name, path string, code int, says []string) {
	t.Run(name, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, recuse(t), "check", "-c", path)
		out, _ := cmd.CombinedOutput() // the exit code says it
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("exit code %d, want %d: %s", got, code, out)
		}
		for _, text := range says {
			if !strings.Contains(string(out), text) {
				t.Errorf("nothing said of %q: %s", text, out)
			}
		}
	})
}
