package incus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// base holds the directories of all runs on the box. It is on a disk, since a
// container is some hundred megabytes, and short, since a socket's path is.
const base = "/var/tmp/recuse-incus"

// run is one run's directory.
type run struct {
	id   string
	path string
	lock *os.File
}

// newRun sweeps what dead runs left and makes a directory for this one.
func newRun(id string) (*run, error) {
	if err := os.MkdirAll(base, 0o711); err != nil {
		return nil, fmt.Errorf("failed to make %s: %w", base, err)
	}
	if err := sweep(); err != nil {
		return nil, fmt.Errorf("failed to sweep dead runs: %w", err)
	}
	r := &run{id: id, path: filepath.Join(base, id)}
	if err := os.Mkdir(r.path, 0o711); err != nil {
		return nil, fmt.Errorf("failed to make run directory: %w", err)
	}
	var err error
	if r.lock, err = hold(r.path); err != nil {
		return nil, errors.Join(err, os.RemoveAll(r.path))
	}
	return r, nil
}

// hold takes the lock of a run's directory; the kernel gives it back when the
// process ends, however it does.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("failed to open lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// instance is the name of a host's container, in which the run can be found.
func instance(id, host string) string { return "recuse-" + id + "-" + host }

// close ends what is left of the run and removes its directory.
func (r *run) close() error {
	err := remove(r.id)
	return errors.Join(err, r.lock.Close())
}

// sweep removes the runs whose lock nobody holds.
func sweep() error {
	entries, err := os.ReadDir(base)
	if err != nil {
		return fmt.Errorf("failed to list runs: %w", err)
	}
	var errs []error
	for _, e := range entries {
		lock, err := hold(filepath.Join(base, e.Name()))
		if err != nil {
			continue // its owner lives
		}
		errs = append(errs, remove(e.Name()), lock.Close())
	}
	return errors.Join(errs...)
}

// remove kills the processes of a run, its containers' included, takes down what
// is mounted in its directory and removes that.
func remove(id string) error {
	path := filepath.Join(base, id)
	pids, err := processes(id)
	if err != nil {
		return err
	}
	var errs []error
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, fmt.Errorf("failed to kill process %d of run %s: %w", pid, id, err))
		}
	}
	errs = append(errs, unmount(path))
	if err := errors.Join(errs...); err != nil {
		return err // what is still mounted must not be removed
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("failed to remove run %s: %w", id, err)
	}
	return nil
}

// processes are those of a run: in the control group of one of its containers,
// or with the run's directory in their command line (incusd, a container's
// monitor).
func processes(id string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("failed to list processes: %w", err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		// A process that has ended meanwhile has neither file.
		group, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cgroup"))
		command, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if strings.Contains(string(group), ".payload."+instance(id, "")) ||
			strings.Contains(string(command), filepath.Join(base, id)+"/") {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// unmount takes down all mounts below a directory, the last made first. Those of
// incusd are in a namespace of its own and went with it.
func unmount(dir string) error {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return fmt.Errorf("failed to list mounts: %w", err)
	}
	var errs []error
	for _, line := range slices.Backward(strings.Split(string(text), "\n")) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(fields[1], dir+"/") {
			continue
		}
		err := unix.Unmount(fields[1], unix.MNT_DETACH)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("failed to unmount %s: %w", fields[1], err))
		}
	}
	return errors.Join(errs...)
}
