package vm

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// initPackage is the program that becomes process 1.
const initPackage = "recuse/lab/vm/cmd/vminit"

// BuildInit compiles process 1 for arch into dir and returns its path.
func BuildInit(ctx context.Context, arch, dir string) (string, error) {
	path := filepath.Join(dir, "init")
	return path, goTool(ctx, arch, "build", "-trimpath", "-ldflags=-s -w", "-o", path, initPackage)
}

// tag marks tests that must run in a virtual machine and nowhere else.
const tag = "vm"

// BuildTest compiles the tests of a package for arch into dir, those with the
// build tag vm too. The package may be followed by a colon and a pattern of the
// tests to run.
func BuildTest(ctx context.Context, arch, dir, spec string) (Binary, error) {
	pkg, pattern, _ := strings.Cut(spec, ":")
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		return Binary{}, fmt.Errorf("failed to find package %s: %w", pkg, stderr(err))
	}
	b := Binary{Package: spec, Dir: strings.TrimSpace(string(out)), Run: pattern}
	b.Path = filepath.Join(dir, strings.NewReplacer("/", "-", ".", "").Replace(pkg)+".test")
	if err := goTool(ctx, arch, "test", "-c", "-tags", tag, "-trimpath", "-ldflags=-s -w", "-o", b.Path, pkg); err != nil {
		return Binary{}, err
	}
	if _, err := os.Stat(b.Path); err != nil {
		return Binary{}, fmt.Errorf("package %s has no tests", pkg)
	}
	return b, nil
}

// goTool runs go for arch, so that what it makes is static.
func goTool(ctx context.Context, arch string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("failed to run go %s for %s: %w\n%s", strings.Join(args, " "), arch, err, out)
	}
	return nil
}

// stderr adds to err what the command said.
func stderr(err error) error {
	if e, ok := err.(*exec.ExitError); ok {
		return fmt.Errorf("%w\n%s", err, e.Stderr)
	}
	return err
}

// walkFiles calls f with every file below root.
func walkFiles(files fs.FS, root string, f func(name string, data []byte)) error {
	return fs.WalkDir(files, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err == nil {
			f(name, data)
		}
		return err
	})
}
