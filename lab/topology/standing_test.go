package topology

import "testing"

// TestDirOf proves where the files of a host are looked for.
func TestDirOf(t *testing.T) {
	for space, want := range map[string]string{
		"recuse-lab-20625-e13b-n1": "/run/recuse-lab/20625-e13b/n1",
		"other":                    ".",
		"":                         ".",
	} {
		if got := DirOf(space); got != want {
			t.Errorf("files of %q in %q, want %q", space, got, want)
		}
	}
}
