package agent

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the root of our own import paths.
const module = "recuse/"

// mayImport says which of our packages each package may import, outside of its
// tests. The arrows point one way: no leaf knows another leaf.
var mayImport = map[string][]string{
	"probe":                {},
	"probe/dnsx":           {"probe"},
	"probe/dnsx/catchment": {"probe", "probe/dnsx"},
	"probe/conn":           {"probe"},
	"probe/script":         {"probe"},
	"probe/tripwire":       {},
	"probe/web":            {"probe"},
	"probe/probetest":      {},
	"probe/resulttest":     {"probe"},
	"netlinkx":             {},
	"netlinkx/netlinktest": {"netlinkx"},
	"netlinkx/netnstest":   {"netlinkx/netlinktest"},
	"bgp":                  {"bgp/bfd"},
	"bgp/bfd":              {},
	"agent/control":        {},
	"agent/config":         {"bgp", "netlinkx", "probe", "probe/dnsx"},
	"agent": {"agent/config", "agent/control", "bgp", "netlinkx", "probe",
		"probe/conn", "probe/dnsx", "probe/script", "probe/tripwire",
		"probe/web"},
	"agent/doctor": {"agent", "agent/config", "agent/control", "bgp", "netlinkx", "probe",
		"probe/dnsx", "probe/tripwire"},
	"deploy/routers":       {},
	"lab/authority":        {},
	"lab/load":             {"lab/authority", "lab/load/stub", "lab/urgent"},
	"lab/load/stub":        {},
	"lab/vm":               {"lab/vm/guest"},
	"lab/cable":            {"lab/urgent"},
	"lab/urgent":           {},
	"lab/quest":            {"lab/authority", "lab/load", "lab/load/stub", "lab/result", "lab/topology"},
	"lab/topology/gate":    {"lab/authority"},
	"lab/topology/labtest": {"lab/topology"},
	"lab/topology":         {"lab/authority", "lab/cable", "lab/topology/gate", "deploy/routers", "agent/control"},
	"lab/bench/benchtest":  {"lab/bench", "lab/bench/netns", "lab/topology", "lab/topology/labtest"},
	"lab/bench/follow":     {"lab/result"},
	"lab/bench/meter":      {"lab/bench", "lab/topology"},
	"lab/bench/netns": {"lab/authority", "lab/bench", "lab/bench/follow", "lab/bench/meter", "lab/bench/pace",
		"lab/cable", "lab/load", "lab/result", "lab/topology"},
	"lab/bench/pace": {"lab/topology"},
	"lab/incus": {"lab/authority", "lab/bench", "lab/bench/follow", "lab/bench/meter", "lab/bench/netns", "lab/bench/pace",
		"lab/cable", "lab/load", "lab/result", "lab/topology"},
	"lab/peer":     {"lab/topology"},
	"lab/bench":    {"lab/authority", "lab/load", "lab/result"},
	"lab/result":   {"lab/load"},
	"lab/report":   {"lab/load", "lab/result"},
	"lab/scenario": {"lab/authority", "lab/bench", "lab/load", "lab/load/stub", "lab/result"},
	"lab":          {"lab/topology", "lab/load", "lab/bench/follow", "agent/control"},
}

// owners says which directories may import a library, and why only those.
var owners = map[string]struct {
	dirs []string
	why  string
}{
	"github.com/osrg/gobgp/v4": {[]string{"bgp"},
		"its API changes between versions and its pitfalls are hidden there"},
	"github.com/vishvananda/netlink": {[]string{"netlinkx", "lab/topology"},
		"every write to a link must pass through a Holder"},
	"github.com/miekg/dns": {[]string{"probe/dnsx", "lab"},
		"what an answer is worth is judged in one place"},
	"github.com/spf13/viper": {[]string{"agent/config"},
		"it reads numbers as durations; only typed values leave that package"},
	"github.com/spf13/cobra": {nil, "commands and exit codes live in cmd"},
	"github.com/prometheus/client_golang": {[]string{"agent"},
		"metric names are declared in one place"},
}

// eachImport calls f for every import of every Go file that is neither a test
// nor a command.
func eachImport(t *testing.T, f func(dir, file, path string)) {
	t.Helper()
	root := ".."
	n := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") ||
			strings.HasSuffix(p, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), p, nil,
			parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		n++
		if parsed.Name.Name == "main" {
			return nil
		}
		for _, i := range parsed.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f(filepath.Dir(rel), rel, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 20 {
		t.Fatalf("only %d files found: is the root right?", n)
	}
}

func TestImportsPointOneWay(t *testing.T) {
	eachImport(t, func(dir, file, path string) {
		ours, ok := strings.CutPrefix(path, module)
		if !ok {
			return
		}
		allowed, known := mayImport[dir]
		switch {
		case !known:
			t.Errorf("%s: package %s is not in mayImport: say there which of ours it may import", file, dir)
		case !slices.Contains(allowed, ours):
			t.Errorf("%s: package %s may not import %s", file, dir, ours)
		}
	})
}

func TestLibrariesHaveOneOwner(t *testing.T) {
	eachImport(t, func(dir, file, path string) {
		for lib, o := range owners {
			if path != lib && !strings.HasPrefix(path, lib+"/") {
				continue
			}
			if !slices.ContainsFunc(o.dirs, func(d string) bool {
				return dir == d || strings.HasPrefix(dir, d+"/")
			}) {
				t.Errorf("%s imports %s, which only %v may: %s", file, lib,
					o.dirs, o.why)
			}
		}
	})
}

// TestOnlyCommandsExit keeps signals and exits where they can be seen.
func TestOnlyCommandsExit(t *testing.T) {
	eachImport(t, func(dir, file, path string) {
		if path == "os/signal" {
			t.Errorf("%s handles signals: only commands may", file)
		}
	})
}
