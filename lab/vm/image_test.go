package vm

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/vm/guest"
)

// write writes a file below dir and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImage(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "pkg/testdata/deep/file", "data")
	image := Image{
		Init:    write(t, dir, "init", "process 1"),
		Tree:    makeTree(t, map[string]string{"dummy.ko": "ifb", "ifb.ko": ""}),
		Modules: []string{"dummy"},
		Env:     []string{"A=b"},
		Tests: []Binary{
			{Package: "./pkg:TestX", Path: write(t, dir, "pkg.test", "binary"), Dir: filepath.Join(dir, "pkg"), Run: "TestX"},
			{Package: "./bare", Path: write(t, dir, "bare.test", "other"), Dir: filepath.Join(dir, "bare")},
		},
	}
	var b bytes.Buffer
	if err := image.Write(t.Context(), &b); err != nil {
		t.Fatalf("failed to write image: %v", err)
	}
	entries, err := readArchive(b.Bytes())
	if err != nil {
		t.Fatalf("failed to read image: %v", err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if e.Mode&typeFile != 0 {
			files["/"+e.Name] = e.Data
		}
	}
	want := guest.Plan{
		Modules: []string{"/modules/ifb.ko", "/modules/dummy.ko"},
		Env:     []string{"A=b"},
		Tests: []guest.Test{
			{Name: "./pkg:TestX", Path: "/tests/0/test", Dir: "/tests/0", Args: []string{testTimeout, "-test.run=TestX"}},
			{Name: "./bare", Path: "/tests/1/test", Dir: "/tests/1", Args: []string{testTimeout}},
		},
	}
	var got guest.Plan
	if err := json.Unmarshal([]byte(files[guest.PlanPath]), &got); err != nil {
		t.Fatalf("failed to read plan: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("unexpected plan (-want +got):\n%s", diff)
	}
	for name, data := range map[string]string{
		"/init": "process 1", "/tests/0/test": "binary", "/tests/1/test": "other", "/tests/0/testdata/deep/file": "data",
	} {
		if files[name] != data {
			t.Errorf("%s holds %q, want %q", name, files[name], data)
		}
	}
	for _, name := range want.Modules {
		if files[name] == "" {
			t.Errorf("module %s is not in the image", name)
		}
	}
}

func TestImageErrors(t *testing.T) {
	dir := t.TempDir()
	init := write(t, dir, "init", "x")
	for name, image := range map[string]Image{
		"no init":   {Init: filepath.Join(dir, "absent"), Tree: dir},
		"no module": {Init: init, Tree: dir, Modules: []string{"dummy"}},
		"no tree":   {Init: init, Tree: filepath.Join(dir, "absent")},
		"no test":   {Init: init, Tree: dir, Tests: []Binary{{Path: filepath.Join(dir, "absent")}}},
	} {
		if err := image.Write(t.Context(), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: unexpected success", name)
		}
	}
}
