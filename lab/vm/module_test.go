package vm

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// makeModule returns an object file with nothing but a .modinfo section.
func makeModule(t *testing.T, modinfo string) []byte {
	t.Helper()
	const names = "\x00.modinfo\x00.shstrtab\x00"
	const start = 64 // the size of the header
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1},
			Type:  uint16(elf.ET_REL), Machine: uint16(elf.EM_AARCH64), Version: 1, Ehsize: start,
			Shoff: uint64(start + len(modinfo) + len(names)), Shentsize: 64, Shnum: 3, Shstrndx: 2,
		},
		[]byte(modinfo + names),
		elf.Section64{},
		elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: start, Size: uint64(len(modinfo))},
		elf.Section64{Name: 10, Type: uint32(elf.SHT_STRTAB), Off: uint64(start + len(modinfo)), Size: uint64(len(names))},
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatalf("failed to make module: %v", err)
		}
	}
	return b.Bytes()
}

// makeTree writes modules, each with its dependencies, as a kernel's tree.
func makeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	tree := t.TempDir()
	for file, depends := range files {
		path := filepath.Join(tree, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		data := makeModule(t, "license=GPL\x00depends="+depends+"\x00name=x\x00")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

func TestModules(t *testing.T) {
	tree := makeTree(t, map[string]string{
		"drivers/net/dummy.ko":      "",
		"net/bridge/bridge.ko":      "stp,llc",
		"net/802/stp.ko":            "llc",
		"net/llc/llc.ko":            "",
		"net/act/nf-conntrack.ko":   "nf_defrag_ipv6",
		"net/act/nf-defrag-ipv6.ko": "",
		"net/lost.ko":               "nowhere",
	})
	tests := []struct {
		name  string
		ask   []string
		want  []string
		error string
	}{
		{"none", nil, nil, ""},
		{"alone", []string{"dummy"}, []string{"dummy"}, ""},
		{"after what it needs, each once", []string{"bridge", "dummy", "llc"}, []string{"llc", "stp", "bridge", "dummy"}, ""},
		{"dashes in files", []string{"nf_conntrack"}, []string{"nf_defrag_ipv6", "nf_conntrack"}, ""},
		{"dashes in the question", []string{"nf-defrag-ipv6"}, []string{"nf_defrag_ipv6"}, ""},
		{"unknown", []string{"dumy"}, nil, "no kernel module dumy below " + tree},
		{"need unknown", []string{"lost"}, nil, "needed by lost: no kernel module nowhere below " + tree},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loaded, err := modules(t.Context(), tree, tt.ask)
			if tt.error != "" {
				if err == nil || err.Error() != tt.error {
					t.Fatalf("got error %v, want %q", err, tt.error)
				}
				return
			}
			if err != nil {
				t.Fatalf("failed to find modules: %v", err)
			}
			var got []string
			for _, m := range loaded {
				got = append(got, m.name)
				if !bytes.HasPrefix(m.data, []byte("\x7fELF")) {
					t.Errorf("module %s is no object file", m.name)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Fatalf("unexpected modules (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModulesCompressed(t *testing.T) {
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("needs xz to compress a module")
	}
	tree := makeTree(t, map[string]string{"dummy.ko": ""})
	plain, err := os.ReadFile(filepath.Join(tree, "dummy.ko"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("xz", filepath.Join(tree, "dummy.ko")).CombinedOutput(); err != nil {
		t.Fatalf("failed to compress: %v: %s", err, out)
	}
	loaded, err := modules(t.Context(), tree, []string{"dummy"})
	if err != nil || len(loaded) != 1 || !bytes.Equal(loaded[0].data, plain) {
		t.Fatalf("failed to read a compressed module: %v: %d modules", err, len(loaded))
	}
}

func TestModulesBroken(t *testing.T) {
	tree := makeTree(t, nil)
	for name, data := range map[string]string{"a.ko": "no object file", "b.ko.xz": "not compressed"} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		module, _, _ := strings.Cut(name, ".")
		if _, err := modules(t.Context(), tree, []string{module}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v, want one that names %s", err, name)
		}
	}
}
