package bfd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadKeys(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Key
		err        string // what the error ends with
	}{
		{"one", "1 secret", []Key{{1, []byte("secret")}}, ""},
		{"order, comments, spaces", "# keys\n\n 9\t two words \r\n0  hex:00ff\n",
			[]Key{{9, []byte("two words")}, {0, []byte{0, 255}}}, ""},
		{"tab before a space", "3\ttwo words", []Key{{3, []byte("two words")}}, ""},
		{"none", "# nothing\n", nil, ": there is none in it"},
		{"no number", "1 a\nsecret", nil, ":2: must be a number of 0 to 255, a space and a secret"},
		{"number too great", "256 secret", nil, ":1: must be a number of 0 to 255, a space and a secret"},
		{"no secret", "1", nil, ":1: must be a number of 0 to 255, a space and a secret"},
		{"odd digits", "7 hex:abc", nil, ":1: key 7: hex: must be followed by pairs of hexadecimal digits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadKeys(path)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unexpected keys (-want +got):\n%s", diff)
			}
			switch {
			case tt.err == "" && err != nil:
				t.Error(err)
			case tt.err != "" && (err == nil || !strings.HasSuffix(err.Error(), path+tt.err)):
				t.Errorf("got %v, want %s", err, path+tt.err)
			}
		})
	}
	if _, err := ReadKeys(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}
