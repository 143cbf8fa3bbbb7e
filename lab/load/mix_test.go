package load

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHousehold shows which names repeat and which never do.
func TestHousehold(t *testing.T) {
	count := map[string]int{}
	mix, err := Household().entries()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 * len(mix) {
		count[mix[i%len(mix)].fill(uint64(i))]++
	}
	var fresh, lan, repeated int
	for name, n := range count {
		switch {
		case n > 1:
			repeated++
		case strings.HasSuffix(name, ".fresh.internet.example."):
			fresh++
		case strings.HasSuffix(name, ".lan."):
			lan++
		}
	}
	if repeated != 7 || fresh != 200 || lan != 100 {
		t.Errorf("%d names repeat, %d fresh, %d new of lan; want 7, 200, 100", repeated, fresh, lan)
	}
}

func TestReadMix(t *testing.T) {
	text := "# names\n\nvideo.example  AAAA # comment\n{random}.lan.\n  nas.lan\ttxt\n"
	got, err := ReadMix(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Mix{"video.example AAAA", "{random}.lan.", "nas.lan txt"}, got); d != "" {
		t.Errorf("unexpected mix (-want +got):\n%s", d)
	}
	entries, err := got.entries()
	if err != nil {
		t.Fatal(err)
	}
	want := []entry{{"video.example.", 28}, {"{random}.lan.", 1}, {"nas.lan.", 16}}
	if d := cmp.Diff(want, entries, cmp.AllowUnexported(entry{})); d != "" {
		t.Errorf("unexpected entries (-want +got):\n%s", d)
	}
}

func TestReadMixRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "# nothing\n", "there are none"},
		{"three words", "a.lan A IN\n", "line 1"},
		{"no name", "a.lan\n..\n", "line 2: \"..\": must be a domain name"},
		{"no type", "a.lan Q\n", "\"Q\": must be a record type"},
		{"too long a line", strings.Repeat("a", 1<<17), "token too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadMix(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
