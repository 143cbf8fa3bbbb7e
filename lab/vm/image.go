package vm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"recuse/lab/vm/guest"
)

// testTimeout ends a test binary that hangs, with the stacks of its goroutines,
// well before the machine's own timeout would end it without.
const testTimeout = "-test.timeout=3m"

// An Image is what the machine boots into.
type Image struct {
	Init    string   // the binary of process 1
	Tree    string   // the kernel's modules
	Modules []string // the names of those to load
	Env     []string // KEY=VALUE, for every test
	Tests   []Binary
}

// A Binary is a compiled test binary of a package.
type Binary struct {
	Package string // as the user wrote it
	Path    string // of the binary
	Dir     string // the package's directory, for its testdata
	Run     string // a pattern for -test.run; empty is all
}

// Write writes the image, a cpio archive, not compressed: to unpack costs the
// emulated processor more than to copy.
func (i Image) Write(ctx context.Context, w io.Writer) error {
	a := newArchive(w)
	plan := guest.Plan{Env: i.Env}
	init, err := os.ReadFile(i.Init)
	if err != nil {
		return fmt.Errorf("failed to read init: %w", err)
	}
	a.file("init", init)
	loaded, err := modules(ctx, i.Tree, i.Modules)
	if err != nil {
		return err
	}
	for _, m := range loaded {
		name := path.Join("modules", m.name+".ko")
		a.file(name, m.data)
		plan.Modules = append(plan.Modules, "/"+name)
	}
	for n, b := range i.Tests {
		test, err := b.add(a, n)
		if err != nil {
			return err
		}
		plan.Tests = append(plan.Tests, test)
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("failed to write plan: %w", err)
	}
	a.file(path.Clean(guest.PlanPath)[1:], text)
	if err := a.close(); err != nil {
		return fmt.Errorf("failed to write image: %w", err)
	}
	return nil
}

// add writes the n-th test binary and its testdata.
func (b Binary) add(a *archive, n int) (guest.Test, error) {
	dir := fmt.Sprintf("tests/%d", n)
	data, err := os.ReadFile(b.Path)
	if err != nil {
		return guest.Test{}, fmt.Errorf("failed to read test binary: %w", err)
	}
	a.file(dir+"/test", data)
	if err := addTree(a, b.Dir, "testdata", dir); err != nil {
		return guest.Test{}, err
	}
	t := guest.Test{Name: b.Package, Path: "/" + dir + "/test", Dir: "/" + dir, Args: []string{testTimeout}}
	if b.Run != "" {
		t.Args = append(t.Args, "-test.run="+b.Run)
	}
	return t, nil
}

// addTree copies the files below root/sub, if there are any, to dir/sub.
func addTree(a *archive, root, sub, dir string) error {
	if _, err := os.Stat(filepath.Join(root, sub)); os.IsNotExist(err) {
		return nil
	}
	files := os.DirFS(root)
	err := walkFiles(files, sub, func(name string, data []byte) {
		a.file(path.Join(dir, name), data)
	})
	if err != nil {
		return fmt.Errorf("failed to copy %s: %w", sub, err)
	}
	return nil
}
