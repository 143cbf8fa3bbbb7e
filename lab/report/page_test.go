package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"recuse/lab/load"
	"recuse/lab/result"
)

// evil is put where a name or a text goes.
const evil = "</title></svg><script>alert(1)</script><img src=x onerror=alert(1)>\"'|\x1b[2J\r\n& {{.}} \u202e"

// hostileRun has evil in every text.
func hostileRun() result.Run {
	r, _ := frozen().run()
	r.ID, r.Scenario, r.Title, r.Void = evil, evil, evil, evil
	r.Setup = result.Setup{Design: evil, Agent: evil, Router: evil, Layout: evil, LastResort: evil, Backend: evil, Stub: evil, Rate: 1, Scale: 2}
	r.Proof = []result.Proof{{Claim: evil, Evidence: evil}}
	r.Notes, r.Settings = []string{evil}, []string{evil}
	r.Phases[2].Name = evil
	r.ByPhase[evil] = load.Figures{Nodes: map[string]int{evil: 1}}
	for _, lane := range []string{evil, result.LaneLab, "n1 " + evil} {
		r.Events = append(r.Events, result.Event{At: second(11), Lane: lane, State: evil, Text: evil},
			result.Event{At: second(12), Lane: lane, Text: evil})
	}
	r.Machine = result.Machine{CPU: evil, Kernel: evil, System: evil, Versions: map[string]string{evil: evil}}
	return r
}

// render writes the page and parses it.
func render(t *testing.T, runs []result.Run, records func(result.Run) ([]load.Record, error)) (string, *html.Node) {
	t.Helper()
	var b strings.Builder
	if err := HTML(&b, runs, records); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	check(t, doc)
	return b.String(), doc
}

// check looks for what holds of every page: nothing from outside, no script, no
// id twice, no link to nowhere, and names for those who do not see it.
func check(t *testing.T, doc *html.Node) {
	t.Helper()
	ids := map[string]int{}
	for n := range doc.Descendants() {
		if id := attr(n, "id"); id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %q is there %d times", id, n)
		}
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains([]string{"script", "img", "link", "iframe", "object", "embed", "use", "image", "base", "form"}, n.Data) {
			t.Errorf("unexpected element %s", n.Data)
		}
		for _, a := range n.Attr {
			checkAttr(t, n, a, ids)
		}
		switch {
		case n.Data == "th" && attr(n, "scope") == "":
			t.Errorf("a table's head without scope: %s", text(n))
		case n.Data == "svg" && attr(n, "role") == "img" && len(children(n, "title"))*len(children(n, "desc")) != 1:
			t.Error("a picture without one title and one description")
		}
	}
}

// checkAttr checks one attribute.
func checkAttr(t *testing.T, n *html.Node, a html.Attribute, ids map[string]int) {
	t.Helper()
	switch {
	case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "style":
		t.Errorf("unexpected attribute %s of %s", a.Key, n.Data)
	case a.Key == "href":
		if target, ok := strings.CutPrefix(a.Val, "#"); !ok || ids[target] == 0 {
			t.Errorf("unexpected link to %q", a.Val)
		}
	case a.Key == "aria-labelledby":
		for _, id := range strings.Fields(a.Val) {
			if ids[id] == 0 {
				t.Errorf("%s is named by %q, which is not there", n.Data, id)
			}
		}
	}
}

// attr is an attribute's value.
func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// children are the direct children of a kind.
func children(n *html.Node, kind string) []*html.Node {
	var all []*html.Node
	for c := range n.ChildNodes() {
		if c.Data == kind {
			all = append(all, c)
		}
	}
	return all
}

// find are all elements of a kind, with that class if one is named.
func find(doc *html.Node, kind, class string) []*html.Node {
	var all []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == kind &&
			(class == "" || slices.Contains(strings.Fields(attr(n, "class")), class)) {
			all = append(all, n)
		}
	}
	return all
}

// text is everything written in an element.
func text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestPage: a realistic report has its parts.
func TestPage(t *testing.T) {
	l := realistic()
	page, doc := render(t, l.runs, l.load)
	if got := len(find(doc, "article", "run")); got != 7 {
		t.Errorf("unexpected number of runs: %d, want 7 without the one left out", got)
	}
	if got := len(find(doc, "svg", "line")); got != 7 {
		t.Errorf("unexpected number of time lines: %d", got)
	}
	if got := len(find(doc, "article", "is-void")); got != 1 {
		t.Errorf("unexpected number of void runs: %d", got)
	}
	for _, class := range []string{"c-lost", "c-bad", "c-stalled", "c-answered"} {
		if len(find(doc, "path", class)) == 0 {
			t.Errorf("no %s in any picture", class)
		}
	}
	for _, class := range []string{"m-good", "m-second", "m-out", "m-unknown", "m-plain"} {
		if len(find(doc, "rect", class)) < 2 { // one is the key's
			t.Errorf("no %s in any picture", class)
		}
	}
	all := text(doc)
	for _, want := range []string{"7 runs of 4 scenarios on 3 setups; 1 void", "Cortex-A72, 4 cores, 4.0 GiB", "recuse v0.2.0",
		"the kernel has no resilient nexthop groups", "12 packets of n1 after +0.000 s", "n1 thawed", "net.ipv4.fib_multipath_hash_policy=1",
		"n1 left the router's kernel after 0.900 s", "Linux 6.12.1 aarch64"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if !strings.Contains(page, "prefers-color-scheme: dark") || strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Error("the page lacks its style, or names an address")
	}
}

// TestVoidRunInNoFigure: the table's line of a run that does not count says why,
// in place of figures.
func TestVoidRunInNoFigure(t *testing.T) {
	l := realistic()
	_, doc := render(t, l.runs, l.load)
	var got []string
	for _, n := range find(doc, "tr", "nothing") {
		if len(find(n, "td", "n")) > 0 {
			t.Errorf("unexpected figures in the line %q", text(n))
		}
		got = append(got, text(n))
	}
	want := []string{
		"relay the fault did not take effect; no proof: n1 fell silent (12 packets of n1 after +0.000 s) 2 void",
		"anycast not possible on this bench: the kernel has no resilient nexthop groups 8 left out",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected lines (-want +got):\n%s", diff)
	}
}

// TestPageHostile: no text of a file becomes an element or an attribute.
func TestPageHostile(t *testing.T) {
	r := hostileRun()
	_, records := frozen().run()
	for i := range records {
		if records[i].Node == "n1" {
			records[i].Node = evil
		}
	}
	page, doc := render(t, []result.Run{r}, func(result.Run) ([]load.Record, error) { return records, nil })
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.ContainsAny(page, "\x1b\r") {
		t.Error("a text became markup")
	}
	if !strings.Contains(text(doc), "<script>alert(1)</script>") {
		t.Error("the text is not shown as it is")
	}
	if len(find(doc, "svg", "line")) != 1 {
		t.Error("the time line is broken")
	}
}

func TestPageOfNothing(t *testing.T) {
	_, doc := render(t, nil, nil)
	if got := text(find(doc, "body", "")[0]); !strings.Contains(got, "There are no runs.") {
		t.Errorf("unexpected page of nothing: %s", got)
	}
}

// TestPageWithoutRecords: a run whose load is lost says so, and is there.
func TestPageWithoutRecords(t *testing.T) {
	r, _ := frozen().run()
	_, doc := render(t, []result.Run{r}, func(result.Run) ([]load.Record, error) { return nil, errors.New("load.csv: is not there") })
	if got := text(find(doc, "article", "run")[0]); !strings.Contains(got, "No time line: load.csv: is not there") {
		t.Errorf("unexpected run without records: %s", got)
	}
}

// maxPage is the most that one run may take on the page.
const maxPage = 150 << 10

// TestPageSize: neither thousands of questions nor of events, nor long texts,
// make a huge page.
func TestPageSize(t *testing.T) {
	s := frozen()
	s.rate, s.clients = 1000, 50
	r, records := s.run()
	for i := range 1500 {
		at := second(float64(i) / 38)
		for n := range 12 {
			r.Events = append(r.Events, result.Event{At: at, Lane: fmt.Sprintf("n%d stance", n), State: []string{"announced", "withdrawn"}[i%2],
				Text: strings.Repeat("long ", 100)})
		}
		r.Events = append(r.Events, result.Event{At: at, Lane: "n1 checks", Text: strings.Repeat("x", 1000)},
			result.Event{At: at, Lane: result.LaneLab, Text: strings.Repeat("y", 1000)})
		r.Notes = append(r.Notes, strings.Repeat("note ", 100))
		r.Settings = append(r.Settings, strings.Repeat("setting ", 100))
		r.Proof = append(r.Proof, result.Proof{Claim: "c", Holds: true, Evidence: strings.Repeat("e", 5000)})
	}
	for i := range records {
		// Every bin differs, and fails in part.
		if i%7 == 0 {
			records[i].Outcome = load.Timeout
		}
	}
	empty, _ := render(t, nil, nil)
	start := time.Now()
	page, _ := render(t, []result.Run{r}, func(result.Run) ([]load.Record, error) { return records, nil })
	t.Logf("a run of %d questions and %d events takes %d KiB and %s", len(records), len(r.Events), len(page)>>10, time.Since(start))
	if len(page)-len(empty) > maxPage {
		t.Errorf("a run takes %d bytes, more than %d", len(page)-len(empty), maxPage)
	}
}

// TestHundredRuns stay on one page that a browser can hold.
func TestHundredRuns(t *testing.T) {
	var l library
	for i := range 100 {
		s := frozen()
		s.seed, s.scenario = uint64(i), fmt.Sprintf("scenario-%d", i%25)
		s.started = sampleStart.Add(time.Duration(i) * time.Minute)
		l.add(s, nil)
	}
	page, doc := render(t, l.runs, l.load)
	if got := len(find(doc, "svg", "line")); got != 100 {
		t.Errorf("unexpected number of time lines: %d", got)
	}
	t.Logf("100 runs take %d KiB", len(page)>>10)
	if len(page) > 100*maxPage/2 {
		t.Errorf("100 runs take %d bytes", len(page))
	}
}

// TestFromDirectory goes the whole way: written, read, and shown.
func TestFromDirectory(t *testing.T) {
	l := realistic()
	dir := t.TempDir()
	for _, r := range l.runs {
		if err := result.Write(dir, r, l.records[r.ID]); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	direct, _ := render(t, l.runs, l.load)
	read, _ := render(t, runs, result.Run.Records)
	if direct != read {
		t.Error("the report of a directory differs from that of the runs that were put there")
	}
}
