package agent

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadOnlyOf(t *testing.T) {
	const maps = `00400000-00a00000 r-xp 00000000 fe:00 1 /usr/bin/recuse
Size:               6144 kB
Anonymous:             0 kB
00a00000-01400000 r--p 00600000 fe:00 1 /usr/bin/recuse
Anonymous:             0 kB
VmFlags: rd mr mw me sd
01400000-01410000 r--p 01000000 fe:00 1 /usr/bin/recuse
Anonymous:            64 kB
01410000-01500000 rw-p 01000000 fe:00 1 /usr/bin/recuse
Anonymous:             0 kB
c000000000-c004000000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 2 /usr/lib/other
Anonymous:             0 kB
7fff00000000-7fff00021000 rw-p 00000000 00:00 0 [stack]
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0xa00000}, {0xa00000, 0x1400000}}
	got := readOnlyOf(strings.NewReader(maps), "/usr/bin/recuse")
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mapping{})); diff != "" {
		t.Errorf("unexpected mappings (-want +got):\n%s", diff)
	}
}

// TestForget proves that a program goes on after its pages were dropped, and
// that they were.
func TestForget(t *testing.T) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := readOnlyOf(f, exe)
	if len(list) == 0 {
		t.Fatal("the program is mapped nowhere")
	}
	for _, m := range list {
		if err := m.forget(); err != nil {
			t.Error(err)
		}
	}
}
