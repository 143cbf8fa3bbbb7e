package routers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// frrDir is where Debian keeps FRR's daemons.
const frrDir = "/usr/lib/frr/"

// A router is a running FRR or BIRD with rendered configuration.
type router struct {
	space
	kind, dir string
}

// startRouter renders the nodes and starts the daemons on the text.
func startRouter(t *testing.T, s space, kind string, nodes []Node) router {
	t.Helper()
	r := router{s, kind, daemonDir(t)}
	parts, err := RenderDaemons(kind, nodes)
	if err != nil {
		t.Fatalf("failed to render: %v", err)
	}
	for name, text := range parts {
		write(t, r.dir, name+".conf", text)
	}
	if kind == "bird" {
		s.start(t, r.dir, "bird", "-f", "-c", r.dir+"/bird.conf", "-s", r.dir+"/bird.ctl", "-P", r.dir+"/bird.pid")
	} else {
		r.startFRR(t)
	}
	return r
}

// startFRR starts zebra, then bfdd and bgpd, each on its own file.
func (r router) startFRR(t *testing.T) {
	t.Helper()
	for _, name := range []string{"zebra", "bfdd", "bgpd"} {
		args := []string{frrDir + name, "-f", r.dir + "/" + name + ".conf", "-i", r.dir + "/" + name + ".pid",
			"-z", r.dir + "/zserv.api", "--vty_socket", r.dir, "--log", "file:" + r.dir + "/" + name + ".log"}
		if name == "bfdd" {
			args = append(args, "--bfdctl", r.dir+"/bfdd.sock")
		}
		r.start(t, r.dir, args...)
		eventually(t, name+" listens", func() error {
			_, err := os.Stat(r.dir + "/" + name + ".vty")
			return err
		})
	}
}

// ask returns the answer of the router's own shell.
func (r router) ask(question string) (string, error) {
	args := []string{"vtysh", "--vty_socket", r.dir, "-c", question}
	if r.kind == "bird" {
		args = append([]string{"birdc", "-r", "-s", r.dir + "/bird.ctl"}, strings.Fields(question)...)
	}
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("failed to ask %q: %w: %s", question, err, out)
	}
	return string(out), nil
}

// complaints returns what the daemons said of their configuration.
func (r router) complaints(t *testing.T) string {
	t.Helper()
	var found []string
	for _, name := range []string{"zebra", "bfdd", "bgpd", "ip", "bird"} {
		for _, ext := range []string{".log", ".out"} {
			text, err := os.ReadFile(filepath.Join(r.dir, name+ext))
			if err != nil {
				continue // that router has no such file
			}
			for line := range strings.Lines(string(text)) {
				for _, sign := range []string{"No such command", "config line", "rror", "WARN", "arning"} {
					if strings.Contains(line, sign) {
						found = append(found, line)
						break
					}
				}
			}
		}
	}
	return strings.Join(found, "")
}

// bfdUp returns how many BFD sessions the router has up.
func (r router) bfdUp() (int, error) {
	if r.kind == "bird" {
		out, err := r.ask("show bfd sessions")
		return strings.Count(out, " Up "), err
	}
	out, err := r.ask("show bfd peers json")
	return strings.Count(out, `"status":"up"`), err
}

// TestFRRAcceptsText has vtysh read every text, and one that it must refuse.
func TestFRRAcceptsText(t *testing.T) {
	need(t, false, "vtysh")
	for name, nodes := range scenarios() {
		text, err := Render("frr", nodes)
		if err != nil {
			t.Fatalf("failed to render: %v", err)
		}
		path := write(t, t.TempDir(), name, text)
		if out := run(t, "vtysh", "-C", "-f", path); out != "" {
			t.Errorf("%s: vtysh complains:\n%s", name, out)
		}
	}
	wrong := write(t, t.TempDir(), "wrong", "router bgp 65000\n neighbor 192.0.2.1 nonsense\nexit\n")
	if err := exec.Command("vtysh", "-C", "-f", wrong).Run(); err == nil {
		t.Error("vtysh -C accepts a wrong line: this test proves nothing")
	}
}

// TestBIRDAcceptsText has bird read every text, and one that it must refuse.
func TestBIRDAcceptsText(t *testing.T) {
	need(t, false, "bird")
	for name, nodes := range scenarios() {
		text, err := Render("bird", nodes)
		if err != nil {
			t.Fatalf("failed to render: %v", err)
		}
		path := write(t, t.TempDir(), name, text)
		if name == "ipv6" { // what the text's own comment asks of such a router
			path = write(t, t.TempDir(), name, "router id 192.0.2.1;\n"+text)
		}
		if out := run(t, "bird", "-p", "-c", path); out != "" {
			t.Errorf("%s: bird complains:\n%s", name, out)
		}
	}
	wrong := write(t, t.TempDir(), "wrong", "protocol bgp x { nonsense; }\n")
	if err := exec.Command("bird", "-p", "-c", wrong).Run(); err == nil {
		t.Error("bird -p accepts a wrong line: this test proves nothing")
	}
}

// unshown matches the lines, each after its address family, that FRR 8.4 takes
// but does not show, being its defaults.
var unshown = regexp.MustCompile(`send-community all$|timers 3 9$|^ipv4 .* activate$` +
	`|transmit-interval 300$|receive-interval 300$|detect-multiplier 3$`)

// TestFRRKeepsEveryLine starts FRR on the text, and looks for each line in the
// running configuration.
func TestFRRKeepsEveryLine(t *testing.T) {
	need(t, true, "ip", "vtysh", frrDir+"bgpd")
	for _, name := range []string{"full", "ibgp", "ipv6"} {
		t.Run(name, func(t *testing.T) {
			r := startRouter(t, newSpace(t), "frr", scenarios()[name])
			text, err := Render("frr", scenarios()[name])
			if err != nil {
				t.Fatalf("failed to render: %v", err)
			}
			eventually(t, "running configuration", func() error {
				running, err := r.ask("show running-config")
				return errors.Join(err, lacking(running, text))
			})
			if c := r.complaints(t); c != "" {
				t.Errorf("the daemons complain:\n%s", c)
			}
		})
	}
}

// lacking names the lines of text that running does not have.
func lacking(running, text string) error {
	have := map[string]bool{}
	for _, line := range settings(running) {
		have[line] = true
	}
	var missing []error
	for _, line := range settings(text) {
		if !have[line] && !unshown.MatchString(line) {
			missing = append(missing, fmt.Errorf("not in the running configuration: %q", line))
		}
	}
	return errors.Join(missing...)
}

// settings returns the lines of a configuration, each after the address family
// that it stands in, without comments.
func settings(text string) []string {
	var all []string
	family := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "address-family "); ok {
			family = name
		}
		if line != "" && !strings.HasPrefix(line, "!") {
			all = append(all, family+" "+line)
		}
		if line == "exit-address-family" {
			family = ""
		}
	}
	return all
}
