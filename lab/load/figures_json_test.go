package load

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFiguresJSON shows that figures are read back exactly, infinite ones too,
// and that those are spelled so that any reader knows them.
func TestFiguresJSON(t *testing.T) {
	for _, letters := range []string{"", "abab", "aaxabxaS", "xxx", "aLu"} {
		want := Summarize(play(letters))
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Figures
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: unexpected figures (-want +got):\n%s", letters, d)
		}
	}
}

// TestFiguresJSONText shows the spelling, for readers in other languages.
func TestFiguresJSONText(t *testing.T) {
	text, err := json.Marshal(map[string]Figures{"calm": Summarize(play("ax"))})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"p50_ns":10000000,`, `"p95_ns":"infinite"`, `"nodes":{"a":1}`,
		`"first_lost":"2024-01-01T00:00:00.1Z"`, `"outage_ns":2000000000`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if n := strings.Count(string(text), `"p95_ns"`); n != 1 {
		t.Errorf("p95 is written %d times: %s", n, text)
	}
	if strings.Contains(string(text), time.Time{}.Format(time.RFC3339)) {
		t.Errorf("a time that is none is written: %s", text)
	}
}

func TestFiguresJSONRefuses(t *testing.T) {
	var f Figures
	if err := json.Unmarshal([]byte(`{"p50_ns":"soon"}`), &f); err == nil || !strings.Contains(err.Error(), `or "infinite"`) {
		t.Errorf("error %v, want one that tells the spelling", err)
	}
}
