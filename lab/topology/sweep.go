package topology

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// sweep ends the processes of dead labs and deletes their namespaces and run
// directories. A directory that was kept on purpose has no lock file and stays.
func sweep() error {
	entries, err := os.ReadDir(netnsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("failed to list namespaces: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if id, ok := labOf(e.Name()); ok && dead(id) {
			errs = append(errs, sweepNamespace(e.Name()))
		}
	}
	dirs, err := os.ReadDir(base)
	errs = append(errs, err)
	for _, d := range dirs {
		if d.IsDir() && hasLock(d.Name()) && dead(d.Name()) {
			errs = append(errs, os.RemoveAll(filepath.Join(base, d.Name())))
		}
	}
	return errors.Join(errs...)
}

// labOf takes the lab's id, which is pid-random, out of a namespace's name.
func labOf(namespace string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(namespace, prefix)
	parts := strings.SplitN(rest, "-", 3)
	if !ok || len(parts) != 3 {
		return "", false
	}
	return parts[0] + "-" + parts[1], true
}

// hasLock reports whether the lab's lock file exists.
func hasLock(id string) bool {
	_, err := os.Stat(filepath.Join(base, id, "lock"))
	return err == nil
}

// dead reports whether the lab's owner is gone: nobody holds its lock, or the
// directory is gone with it and no process has the owner's pid.
func dead(id string) bool {
	if !hasLock(id) {
		pid, _, _ := strings.Cut(id, "-")
		_, err := os.Stat(filepath.Join("/proc", pid))
		return errors.Is(err, fs.ErrNotExist)
	}
	f, err := lock(filepath.Join(base, id, "lock"), unix.LOCK_EX|unix.LOCK_NB)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// killInside kills whoever is left in the namespace.
func killInside(name string) error {
	pids, err := inside(name)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("failed to kill process %d left in %s: %w", pid, name, err)
		}
	}
	return nil
}

// sweepNamespace kills whoever is left in the namespace and deletes its name.
func sweepNamespace(name string) error {
	if err := killInside(name); err != nil {
		return err
	}
	// A name that was never bound (the owner died between) is a mere file.
	path := filepath.Join(netnsDir, name)
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("failed to unbind namespace %s: %w", name, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("failed to delete namespace %s: %w", name, err)
	}
	return nil
}

// inside lists the processes of a named namespace.
func inside(name string) ([]int, error) {
	var want unix.Stat_t
	if err := unix.Stat(filepath.Join(netnsDir, name), &want); err != nil {
		return nil, fmt.Errorf("failed to look at namespace %s: %w", name, err)
	}
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("failed to list processes: %w", err)
	}
	var pids []int
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		var got unix.Stat_t
		// A process that has ended meanwhile has no namespace to look at.
		if unix.Stat(filepath.Join("/proc", p.Name(), "ns/net"), &got) == nil &&
			got.Dev == want.Dev && got.Ino == want.Ino {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
