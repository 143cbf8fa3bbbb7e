package result

import (
	"strings"
	"testing"
)

func TestProcessor(t *testing.T) {
	amd64 := "processor\t: 0\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) Processor\n\nprocessor\t: 1\nmodel name\t: other\n"
	arm64 := "processor\t: 0\nBogoMIPS\t: 108.00\nCPU part\t: 0xd0b\n"
	if got := processor(amd64); got != "Intel(R) Xeon(R) Processor" {
		t.Errorf("unexpected processor of amd64: %q", got)
	}
	if got := processor(arm64); got != "" {
		t.Errorf("unexpected processor of arm64, which names none: %q", got)
	}
}

func TestMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:        8052044 kB\nMemFree: 1 kB\n": 8052044 << 10,
		"MemFree: 1 kB\n": 0,
		"":                0,
	} {
		if got := memory(text); got != want {
			t.Errorf("%q: unexpected memory %d, want %d", text, got, want)
		}
	}
}

func TestSystem(t *testing.T) {
	for text, want := range map[string]string{
		"NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n": "Debian GNU/Linux 12 (bookworm)",
		"PRETTY_NAME='Alpine Linux v3.20'\n":                                "Alpine Linux v3.20",
		"ID=x\n":                                                            "",
	} {
		if got := system(text); got != want {
			t.Errorf("%q: unexpected system %q, want %q", text, got, want)
		}
	}
}

// TestHere looks at the box that the test runs on.
func TestHere(t *testing.T) {
	m := Here()
	if m.CPU == "" || m.Cores < 1 || m.Memory < 1<<20 || !strings.HasPrefix(m.Kernel, "Linux ") || m.Versions == nil {
		t.Errorf("unexpected machine: %+v", m)
	}
}
