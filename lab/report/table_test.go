package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/load"
	"recuse/lab/result"
)

// plainRun is a run of which only the figures count.
func plainRun(scenario string, setup result.Setup, minute int, f load.Figures) result.Run {
	return result.Run{ID: scenario, Scenario: scenario, Setup: setup, Started: sampleStart.Add(time.Duration(minute) * time.Minute), Figures: f}
}

// rows spells a table's cells: scenario, label, size, and the lost column.
func rows(t table) []string {
	lost := columns[1]
	var all []string
	for _, g := range t.groups {
		for _, c := range g.cells {
			all = append(all, strings.Join([]string{g.scenario, c.label, c.size(), c.figure(lost)}, " | "))
		}
	}
	return all
}

// TestTable: scenarios in the order in which they were run, designs in theirs,
// the median and the worst of each cell.
func TestTable(t *testing.T) {
	any, base := anycast(), anycast()
	base.Design, base.Agent = "baseline", "none"
	bird := any
	bird.Router = "bird"
	lost := func(n int) load.Figures { return load.Figures{Lost: n} }
	runs := []result.Run{
		plainRun("wan-down", any, 9, lost(1)),
		plainRun("steady", any, 5, lost(4)), plainRun("steady", any, 6, lost(2)), plainRun("steady", any, 7, lost(9)), plainRun("steady", any, 8, lost(3)),
		plainRun("steady", bird, 4, lost(0)), plainRun("steady", bird, 4, lost(0)),
		plainRun("steady", base, 2, lost(1500)),
	}
	want := []string{
		"steady | baseline | 1 | 1,500",
		"steady | anycast, bird | 2 | 0",
		"steady | anycast, frr | 4 | 3 (9)",
		"wan-down | anycast, frr | 1 | 1",
	}
	if diff := cmp.Diff(want, rows(newTable(runs))); diff != "" {
		t.Errorf("unexpected table (-want +got):\n%s", diff)
	}
}

// TestVoid: what says nothing is in no figure, whoever says so.
func TestVoid(t *testing.T) {
	any := anycast()
	good := plainRun("s", any, 0, load.Figures{Lost: 3})
	own := plainRun("s", any, 1, load.Figures{Lost: 100})
	own.Void = "interrupted"
	late := plainRun("s", any, 2, load.Figures{Lost: 100, Void: "the generator was late"})
	unproved := plainRun("s", any, 3, load.Figures{Lost: 100})
	unproved.Proof = []result.Proof{{Claim: "n1 served", Holds: false, Evidence: "0 answers"}}
	out := plainRun("s", any, 4, load.Figures{Lost: 100})
	out.LeftOut = "no groups in this kernel"
	for _, r := range []result.Run{own, late, unproved} {
		if len(voids(r)) != 1 {
			t.Errorf("unexpected reasons: %q", voids(r))
		}
	}
	tests := []struct {
		name string
		runs []result.Run
		want string
	}{
		{"all", []result.Run{good, own, late, unproved, out}, "s | anycast | 1, 3 void, left out | 3"},
		{"none counts", []result.Run{own, late}, "s | anycast | 2 void | –"},
		{"left out", []result.Run{out}, "s | anycast | left out | –"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff([]string{tt.want}, rows(newTable(tt.runs))); diff != "" {
			t.Errorf("%s: unexpected table (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestVoidOnce: a reason that the run gives itself is not given again.
func TestVoidOnce(t *testing.T) {
	r := result.Run{Void: "no proof that n1 served; the generator was late", Figures: load.Figures{Void: "the generator was late"},
		Proof: []result.Proof{{Claim: "n1 served"}}}
	if got := voids(r); len(got) != 1 {
		t.Errorf("unexpected reasons: %q", got)
	}
}

// TestQuietColumns are there only if they have something to say, and a void run
// says nothing.
func TestQuietColumns(t *testing.T) {
	shown := func(runs ...result.Run) []string {
		var names []string
		for _, c := range newTable(runs).shown() {
			names = append(names, c.name)
		}
		return names
	}
	usual := []string{"asked", "lost", "stalled", "felt outage", "worst gap"}
	void := plainRun("s", anycast(), 0, load.Figures{Resets: 9})
	void.Void = "x"
	if diff := cmp.Diff(usual, shown(void, plainRun("s", anycast(), 1, load.Figures{}))); diff != "" {
		t.Errorf("unexpected columns (-want +got):\n%s", diff)
	}
	got := shown(plainRun("s", anycast(), 0, load.Figures{Bad: 1, Moved: 2, Resets: 3}))
	if want := []string{"asked", "lost", "bad", "stalled", "felt outage", "worst gap", "moved", "resets"}; !slices.Equal(got, want) {
		t.Errorf("unexpected columns %v, want %v", got, want)
	}
}

// TestLabels name what tells setups of one design apart, and nothing else.
func TestLabels(t *testing.T) {
	any := anycast()
	tuned, exa, base, slow, rate, bird := any, any, any, any, any, any
	bird.Router = "bird"
	tuned.Tuned = true
	exa.Agent = "exabgp"
	base.Design, base.Agent, base.LastResort = "baseline", "none", ""
	slow.Scale = 0.25
	rate.Rate = 1000
	tests := []struct {
		name   string
		setups []result.Setup
		want   []string
	}{
		{"one", []result.Setup{any}, []string{"anycast"}},
		{"designs", []result.Setup{any, base}, []string{"baseline", "anycast"}},
		{"agents", []result.Setup{any, exa, tuned}, []string{"recuse, defaults", "recuse, tuned", "exabgp, defaults"}},
		{"routers beside a design", []result.Setup{bird, any, base}, []string{"baseline", "anycast, bird", "anycast, frr"}},
		{"lengths", []result.Setup{any, slow}, []string{"length ×0.25", "length ×1"}},
		{"rates", []result.Setup{any, rate}, []string{"1000/s", "20/s"}},
	}
	for _, tt := range tests {
		var runs []result.Run
		for _, s := range tt.setups {
			runs = append(runs, plainRun("s", s, 0, load.Figures{}))
		}
		var got []string
		for _, g := range newTable(runs).groups {
			for _, c := range g.cells {
				got = append(got, c.label)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: unexpected labels (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestLegend: what all setups share is said once.
func TestLegend(t *testing.T) {
	any, base, short := anycast(), anycast(), anycast()
	base.Design, base.Agent = "baseline", "none"
	short.Scale = 0.5
	var runs []result.Run
	for _, s := range []result.Setup{any, base, short} {
		runs = append(runs, plainRun("s", s, 0, load.Figures{}))
	}
	want := []meaning{
		{"all", "router frr, layout routed, last resort none, backend namespaces, stub none, 20 questions a second"},
		{"baseline", "design baseline"},
		{"anycast, length ×0.5", "design anycast, agent recuse (defaults), phases 0.5 of their full length"},
		{"anycast, length ×1", "design anycast, agent recuse (defaults)"},
	}
	if diff := cmp.Diff(want, newTable(runs).legend, cmp.AllowUnexported(meaning{})); diff != "" {
		t.Errorf("unexpected legend (-want +got):\n%s", diff)
	}
}

// TestRelease: a version is found in whatever a program says of it.
func TestRelease(t *testing.T) {
	for s, want := range map[string]string{
		"bgpd version 8.4.4": "8.4.4", "dnsdist 1.7.3 (Lua 5.1.4 [LuaJIT 2.1.0-beta3])": "1.7.3", "ExaBGP : 4.2.21": "4.2.21",
		"Keepalived v2.2.7 (01/16,2022)": "v2.2.7", "recuse version devel": "devel", "recuse version v0.1.0-3-gabc-dirty": "v0.1.0-3-gabc-dirty",
		"unknown": "unknown", "": "",
	} {
		if got := release(s); got != want {
			t.Errorf("%q: unexpected version %q, want %q", s, got, want)
		}
	}
}

// TestMachines: a box is named once, with the programs of all its runs.
func TestMachines(t *testing.T) {
	a := plainRun("a", anycast(), 0, load.Figures{})
	a.Machine = result.Machine{CPU: "x", Cores: 1, Memory: 512 << 20, Versions: map[string]string{"frr": "bgpd version 8.4.4", "recuse": "recuse version v1"}}
	b := a
	b.Started = a.Started.Add(24 * time.Hour)
	b.Machine.Versions = map[string]string{"recuse": "v2"}
	out := a
	out.Machine.Versions, out.LeftOut = nil, "x"
	other := a
	other.Machine.Kernel = "Linux 7"
	boxes := newTable([]result.Run{a, b, out, other}).machines()
	if len(boxes) != 2 || len(boxes[0].runs) != 3 {
		t.Fatalf("unexpected machines: %+v", boxes)
	}
	want := "2026-03-01 to 2026-03-02, on x, 1 core, 0.5 GiB, frr 8.4.4, recuse v1 (run 1) and v2 (run 4)."
	if got := boxes[0].line(); got != want {
		t.Errorf("unexpected line %q, want %q", got, want)
	}
}
