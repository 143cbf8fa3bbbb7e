package topology

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// base holds the run directories of all labs on the box. It is one place, not
// a temporary directory, so that a later run finds what a dead one left.
const base = "/run/recuse-lab"

// prefix begins the name of every namespace of every lab.
const prefix = "recuse-lab-"

// runDir is one lab's directory; its lock says that the owner lives.
type runDir struct {
	id   string // pid of the owner and four random digits
	path string
	lock *os.File
}

// newRunDir sweeps what dead runs left and makes a directory for this one.
// Both happen under one lock, so that no sweep sees a directory that is not
// yet locked. What cannot be swept is the log's business, not this lab's.
func newRunDir(log *slog.Logger) (*runDir, error) {
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, fmt.Errorf("failed to make %s: %w", base, err)
	}
	global, err := lock(filepath.Join(base, "lock"), unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer global.Close()
	if err := sweep(); err != nil {
		log.Warn("failed to sweep dead labs", "error", err)
	}
	if err := shareNames(); err != nil {
		return nil, err
	}
	var random [2]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("failed to name lab: %w", err)
	}
	id := fmt.Sprintf("%d-%x", os.Getpid(), random)
	path := filepath.Join(base, id)
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, fmt.Errorf("failed to make run directory: %w", err)
	}
	held, err := lock(filepath.Join(path, "lock"), unix.LOCK_EX|unix.LOCK_NB)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return &runDir{id: id, path: path, lock: held}, nil
}

// lock opens the file and takes its lock. The kernel gives it back with the
// last descriptor, so it cannot outlive the process.
func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("failed to open lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), how); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// namespace is the name of the lab's namespace for a host.
func (r *runDir) namespace(host string) string { return prefix + r.id + "-" + host }

// close removes the directory and gives the lock back. A directory that is kept
// loses its lock, so that no sweep takes it for a dead run's. Else the lock
// goes last: who is killed on the way leaves something that is swept.
func (r *runDir) close(keep bool) error {
	var errs []error
	entries, err := os.ReadDir(r.path)
	errs = append(errs, err)
	for _, e := range entries {
		if path := filepath.Join(r.path, e.Name()); !keep && path != r.lock.Name() {
			errs = append(errs, os.RemoveAll(path))
		}
	}
	errs = append(errs, os.Remove(r.lock.Name()), r.lock.Close())
	if !keep {
		errs = append(errs, os.Remove(r.path))
	}
	return errors.Join(errs...)
}
