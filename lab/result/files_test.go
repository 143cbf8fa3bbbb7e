package result

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/load"
)

// start is when the runs of these tests began.
var start = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// records are a few questions, one of them lost.
func records() []load.Record {
	var all []load.Record
	for i := range 10 {
		at := start.Add(time.Duration(i) * 50 * time.Millisecond)
		r := load.Record{Seq: i, Intended: at, Question: load.Question{Name: "www.test.", Type: 1},
			Answer: load.Answer{Sent: at, Ended: at.Add(time.Millisecond), Outcome: load.Answered,
				Node: "n1", Server: "10.9.9.53:53", Port: 40000 + i, Via: load.ViaUDP, Attempts: 1}}
		if i == 4 {
			r.Outcome, r.Node, r.Ended = load.Timeout, "", at.Add(2*time.Second)
		}
		all = append(all, r)
	}
	return all
}

// sample is a run with something in every part.
func sample(id string) Run {
	return Run{
		ID: id, Scenario: "node-frozen", Title: "a node falls silent",
		Setup:   Setup{Design: "anycast", Agent: "recuse", Router: "frr", Stub: "none", Rate: 20, Scale: 1},
		Started: start, Took: 9 * time.Second,
		Phases:  []Phase{{"calm", start, start.Add(time.Second)}},
		Proof:   []Proof{{"n1 served the client", true, "310 of 900 answers"}},
		Figures: load.Summarize(records()),
		ByPhase: map[string]load.Figures{"calm": load.Summarize(records()[:3])},
		Notes:   []string{"left after 0.9 s"},
		Events:  []Event{{At: start.Add(time.Second), Lane: LaneLab, Text: "n1 frozen"}},
		Machine: Machine{CPU: "x", Cores: 2, Versions: map[string]string{"frr": "8.4.4"}},
	}
}

func TestWriteRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for _, id := range []string{"b", "a"} {
		if err := Write(dir, sample(id), records()); err != nil {
			t.Fatal(err)
		}
	}
	// What is no run's is left alone.
	for _, d := range []string{".cache"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "report.html"), "x")

	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, b := sample("a"), sample("b")
	a.Dir, b.Dir = filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if diff := cmp.Diff([]Run{a, b}, got); diff != "" {
		t.Errorf("unexpected runs (-want +got):\n%s", diff)
	}
	loaded, err := got[0].Records()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(records(), loaded); diff != "" {
		t.Errorf("unexpected records (-want +got):\n%s", diff)
	}

	one, err := Read(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Run{b}, one); diff != "" {
		t.Errorf("unexpected run from its own directory (-want +got):\n%s", diff)
	}
}

// write makes a file, and its directory.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReadEmpty(t *testing.T) {
	if runs, err := Read(t.TempDir()); err != nil || runs != nil {
		t.Errorf("unexpected result of an empty directory: %v, %v", runs, err)
	}
}

// TestReadBroken: one broken run costs only itself, and its error says which
// file it is and what to do.
func TestReadBroken(t *testing.T) {
	tests := []struct {
		name, file, text string
		want             string
	}{
		{"interrupted", "bad/load.csv", "seq", "bad/run.json: is not there"},
		{"cut off", "bad/run.json", `{"id": "bad", "scen`, "bad/run.json: unexpected end of JSON input"},
		{"of another type", "bad/run.json", `{"took_ns": "9s"}`, "bad/run.json: json: cannot unmarshal"},
		{"empty", "bad/run.json", `{}`, "bad/run.json: scenario: must not be empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, tt.file), tt.text)
			if err := Write(dir, sample("good"), records()); err != nil {
				t.Fatal(err)
			}
			runs, err := Read(dir)
			if len(runs) != 1 || runs[0].ID != "good" {
				t.Errorf("unexpected runs beside the broken one: %v", runs)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(err.Error(), "delete "+filepath.Join(dir, "bad")) {
				t.Errorf("unexpected error %v, want %q and the way out", err, tt.want)
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error for a directory that is not there")
	}
}

func TestRecordsBroken(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, sample("a"), records()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a", FileLoad)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func() error{
		"cut off": func() error { return os.WriteFile(file, text[:len(text)-60], 0o644) },
		"gone":    func() error { return os.Remove(file) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		_, err := runs[0].Records()
		if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "delete "+filepath.Dir(file)) {
			t.Errorf("%s: unexpected error %v, want the file and the way out", name, err)
		}
	}
	if _, err := (Run{ID: "x"}).Records(); err == nil {
		t.Error("no error for the records of a run that was never read")
	}
	if records, err := (Run{LeftOut: "no groups in this kernel"}).Records(); err != nil || records != nil {
		t.Errorf("unexpected records of a run that was left out: %v, %v", records, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"", ".", "..", "a/b", "../a"} {
		if err := Write(dir, sample(id), nil); err == nil {
			t.Errorf("%q: no error for an id that is no directory's name", id)
		}
	}
	if err := Write(dir, sample("a"), records()); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, sample("a"), nil); err == nil || !strings.Contains(err.Error(), "choose another") {
		t.Errorf("unexpected error for a run that is there already: %v", err)
	}
}

// TestWriteKeepsRecords: a load that was written during the run stays.
func TestWriteKeepsRecords(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", FileLoad), "kept")
	if err := Write(dir, sample("a"), nil); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a", FileLoad)); err != nil || string(text) != "kept" {
		t.Errorf("unexpected load: %q, %v", text, err)
	}
}
