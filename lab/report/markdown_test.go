package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/load"
	"recuse/lab/result"
)

// TestMarkdown is the whole text of a small report.
func TestMarkdown(t *testing.T) {
	m := result.Machine{CPU: "Cortex-A72", Cores: 4, Memory: 4 << 30, Kernel: "Linux 6.12.1 aarch64", System: "Debian 12",
		Versions: map[string]string{"recuse": "v0.2.0", "frr": "8.4.4"}}
	good := plainRun("node-frozen", anycast(), 0, load.Figures{Asked: 800, Lost: 16, Outage: 8e8, WorstGap: 85e7})
	good.Notes = []string{"n1 left after 0.9 s"}
	void := good
	void.Notes = append(void.Notes, "n1 was back after 7 s")
	void.Void = "n1 served nobody"
	out := plainRun("node-added", anycast(), 1, load.Figures{})
	out.LeftOut = "no groups in this kernel"
	good.Machine, void.Machine, out.Machine = m, m, m
	var b strings.Builder
	if err := Markdown(&b, []result.Run{good, void, out}); err != nil {
		t.Fatal(err)
	}
	want := `| scenario    | setup   | runs      | asked | lost | stalled | felt outage | worst gap |
| ----------- | ------- | --------- | ----: | ---: | ------: | ----------: | --------: |
| node-frozen | anycast | 1, 1 void |   800 |   16 |       0 |      0.80 s |    0.85 s |
| node-added  | anycast | left out  |     – |    – |       – |           – |         – |

Median of a cell's runs, in brackets the worst where it differs.

* anycast: design anycast, agent recuse (defaults), router frr, layout routed, last resort none, backend namespaces, stub none, 20 questions a second

2026-03-01, on Cortex-A72, 4 cores, 4.0 GiB, Debian 12, Linux 6.12.1 aarch64, frr 8.4.4, recuse v0.2.0.

* asked: questions that the clients asked
* lost: questions that got no answer before the client gave up
* stalled: questions answered well, but more than 1 s after the client meant to ask
* felt outage: the time during which at least one question of the client that was hurt worst was failing: lost, bad or stalled
* worst gap: the longest time between two questions of one client that went well

## Void: not in the table

* 2. node-frozen, anycast: n1 served nobody

## Left out

* 3. node-added, anycast: no groups in this kernel

## Notes

* 1. node-frozen, anycast: n1 left after 0.9 s
* 2. node-frozen, anycast:
  * n1 left after 0.9 s
  * n1 was back after 7 s
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("unexpected report (-want +got):\n%s", diff)
	}
	var table strings.Builder
	if err := Table(&table, []result.Run{good, void, out}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(want, table.String()) || strings.Contains(table.String(), "##") {
		t.Errorf("unexpected table alone:\n%s", table.String())
	}
}

func TestMarkdownOfNothing(t *testing.T) {
	var b strings.Builder
	if err := errors.Join(Markdown(&b, nil), Table(&b, nil)); err != nil || b.String() != "No runs.\nNo runs.\n" {
		t.Errorf("unexpected report of nothing: %q, %v", b.String(), err)
	}
}

// TestMarkdownHostile: a name cannot add a row, a cell or a tag, nor move a
// terminal's cursor.
func TestMarkdownHostile(t *testing.T) {
	for _, runs := range [][]result.Run{{hostileRun()}} {
		var b strings.Builder
		if err := Markdown(&b, runs); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\x07\r<>") {
			t.Errorf("unexpected characters in the report:\n%q", b.String())
		}
		lines := strings.Split(b.String(), "\n")
		bars := func(s string) int { return strings.Count(strings.ReplaceAll(s, `\|`, ""), "|") }
		if bars(lines[0]) != bars(lines[2]) || strings.HasPrefix(lines[3], "|") {
			t.Errorf("unexpected shape of the table:\n%s", strings.Join(lines[:4], "\n"))
		}
	}
}

// failing refuses what is written.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrors(t *testing.T) {
	runs := []result.Run{plainRun("s", anycast(), 0, load.Figures{})}
	none := func(result.Run) ([]load.Record, error) { return nil, nil }
	for name, err := range map[string]error{
		"markdown": Markdown(failing{}, runs), "table": Table(failing{}, runs), "html": HTML(failing{}, runs, none),
		"nothing": Markdown(failing{}, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: unexpected error %v", name, err)
		}
	}
}
