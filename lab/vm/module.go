package vm

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A module is a kernel module, ready to be loaded.
type module struct {
	name string
	data []byte // ELF
}

// modules returns the named modules of a kernel's module tree and those that they
// depend on, in the order in which they load.
func modules(ctx context.Context, tree string, names []string) ([]module, error) {
	files, err := moduleFiles(tree)
	if err != nil {
		return nil, err
	}
	var loaded []module
	var load func(name string) error
	load = func(name string) error {
		name = plainModule(name)
		if slices.ContainsFunc(loaded, func(m module) bool { return m.name == name }) {
			return nil
		}
		file, ok := files[name]
		if !ok {
			return fmt.Errorf("no kernel module %s below %s", name, tree)
		}
		data, err := readModule(ctx, file)
		if err != nil {
			return err
		}
		needs, err := dependencies(data)
		if err != nil {
			return fmt.Errorf("failed to read kernel module %s: %w", file, err)
		}
		for _, n := range needs {
			if err := load(n); err != nil {
				return fmt.Errorf("needed by %s: %w", name, err)
			}
		}
		loaded = append(loaded, module{name, data})
		return nil
	}
	for _, name := range names {
		if err := load(name); err != nil {
			return nil, err
		}
	}
	return loaded, nil
}

// moduleFiles maps module names to files.
func moduleFiles(tree string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(tree, func(path string, _ fs.DirEntry, err error) error {
		if name, _, ok := strings.Cut(filepath.Base(path), ".ko"); ok {
			files[plainModule(name)] = path
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("failed to list kernel modules: %w", err)
	}
	return files, nil
}

// plainModule is the name by which the kernel knows a module: files have dashes
// where it has underscores.
func plainModule(name string) string { return strings.ReplaceAll(name, "-", "_") }

// readModule reads a module's file, which newer Debian kernels have compressed.
func readModule(ctx context.Context, path string) ([]byte, error) {
	if !strings.HasSuffix(path, ".xz") {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("failed to read kernel module: %w", err)
		}
		return data, nil
	}
	data, err := exec.CommandContext(ctx, "xz", "-dc", path).Output()
	if err != nil {
		return nil, fmt.Errorf("failed to decompress kernel module %s with xz: %w", path, err)
	}
	return data, nil
}

// dependencies returns the modules that a module names in its .modinfo section,
// strings key=value with a NUL after each.
func dependencies(data []byte) ([]string, error) {
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	section := file.Section(".modinfo")
	if section == nil {
		return nil, errors.New("no .modinfo section")
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(info), "\x00") {
		if list, ok := strings.CutPrefix(entry, "depends="); ok && list != "" {
			return strings.Split(list, ","), nil
		}
	}
	return nil, nil
}
