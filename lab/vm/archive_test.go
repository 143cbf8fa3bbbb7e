package vm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// An entry is what readArchive finds.
type entry struct {
	Name string
	Mode int
	Data string
}

// readArchive reads a newc archive strictly, up to its end mark.
func readArchive(data []byte) ([]entry, error) {
	var entries []entry
	rest := data
	take := func(n int) []byte {
		n = min(n, len(rest))
		taken := rest[:n]
		rest = rest[n:]
		return taken
	}
	for len(rest) > 0 {
		header := string(take(110))
		if len(header) != 110 || header[:6] != "070701" {
			return nil, fmt.Errorf("bad header %q", header)
		}
		var fields [13]int
		for i := range fields {
			n, err := strconv.ParseUint(header[6+8*i:14+8*i], 16, 32)
			if err != nil {
				return nil, err
			}
			fields[i] = int(n)
		}
		name := string(take(fields[11]))
		take(-(len(data) - len(rest)) & 3)
		body := string(take(fields[6]))
		if pad := take(-(len(data) - len(rest)) & 3); strings.Trim(string(pad), "\x00") != "" {
			return nil, fmt.Errorf("padding %q", pad)
		}
		name, ended := strings.CutSuffix(name, "\x00")
		if !ended {
			return nil, fmt.Errorf("name %q does not end", name)
		}
		if name == "TRAILER!!!" {
			if len(rest) > 0 {
				return nil, fmt.Errorf("%d bytes after the end", len(rest))
			}
			return entries, nil
		}
		entries = append(entries, entry{name, fields[1], body})
	}
	return nil, errors.New("no end mark")
}

func TestArchive(t *testing.T) {
	var b bytes.Buffer
	a := newArchive(&b)
	a.file("init", []byte("12345"))
	a.file("tests/0/test", []byte("1234"))
	a.file("tests/1/test", nil)
	a.dir("tests")
	if err := a.close(); err != nil {
		t.Fatalf("failed to write archive: %v", err)
	}
	got, err := readArchive(b.Bytes())
	if err != nil {
		t.Fatalf("failed to read archive: %v", err)
	}
	want := []entry{
		{"init", 0o100755, "12345"},
		{"tests", 0o040755, ""},
		{"tests/0", 0o040755, ""},
		{"tests/0/test", 0o100755, "1234"},
		{"tests/1", 0o040755, ""},
		{"tests/1/test", 0o100755, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("unexpected entries (-want +got):\n%s", diff)
	}
}

// TestArchiveWithCpio has the reference program read an archive.
func TestArchiveWithCpio(t *testing.T) {
	if _, err := exec.LookPath("cpio"); err != nil {
		t.Skip("needs cpio to read the archive; the kernel of make test-vm reads it too")
	}
	var b bytes.Buffer
	a := newArchive(&b)
	a.file("a/b", []byte("x"))
	a.file("init", []byte("yz"))
	if err := a.close(); err != nil {
		t.Fatalf("failed to write archive: %v", err)
	}
	cmd := exec.Command("cpio", "-it", "--quiet")
	cmd.Stdin = &b
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "a\na/b\ninit\n" {
		t.Fatalf("unexpected listing: %v: %q", err, out)
	}
}

func TestArchiveKeepsAllFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,9}(/[a-z.]{2,9}){0,3}`),
			rapid.SliceOfN(rapid.Byte(), 0, 9), 0, 9).Draw(t, "files")
		var b bytes.Buffer
		a := newArchive(&b)
		for name, data := range files {
			a.file(name, data)
		}
		if err := a.close(); err != nil {
			t.Fatalf("failed to write archive: %v", err)
		}
		entries, err := readArchive(b.Bytes())
		if err != nil {
			t.Fatalf("failed to read archive: %v", err)
		}
		found := 0
		for _, e := range entries {
			if data, ok := files[e.Name]; ok && e.Mode&typeFile != 0 {
				found++
				if string(data) != e.Data {
					t.Fatalf("%s holds %q, want %q", e.Name, e.Data, data)
				}
			}
		}
		if found != len(files) {
			t.Fatalf("%d of %d files found", found, len(files))
		}
	})
}

// brokenWriter fails after some writes.
type brokenWriter struct{ left int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestArchiveReportsFirstError(t *testing.T) {
	a := newArchive(&brokenWriter{left: 3})
	a.file("a", []byte("x"))
	a.file("b", []byte("y"))
	if err := a.close(); !errors.Is(err, io.ErrShortWrite) {
		t.Fatalf("got error %v, want %v", err, io.ErrShortWrite)
	}
}
