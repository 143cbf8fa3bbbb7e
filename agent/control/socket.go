package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Listen makes the control socket, readable and writable for root and the
// group. A socket that a dead agent left behind is replaced; one that answers
// is another agent's, and an error.
//
// warning is not empty if the group does not exist, so that only root may
// speak to the agent.
func Listen(path, group string) (l *Listener, warning string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, "", fmt.Errorf("failed to make the directory of "+
			"control.socket: %w", err)
	}
	if err := replaceStale(path); err != nil {
		return nil, "", err
	}
	l, err = listenPrivate(path, group)
	if err != nil {
		return nil, "", fmt.Errorf("failed to listen on control.socket: %w",
			err)
	}
	warning, err = giveTo(path, group)
	if err != nil {
		return nil, "", errors.Join(err, l.Close())
	}
	return l, warning, nil
}

// replaceStale removes a socket on which nobody listens.
func replaceStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("failed to look at control.socket: %w", err)
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("control.socket: %q: exists and is no socket; "+
			"choose another path or remove it", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
		return fmt.Errorf("control.socket: %q: another agent answers there; "+
			"stop it first, or give this one a socket of its own", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("control.socket: %q: cannot tell whether another "+
			"agent is there: %w", path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("failed to remove the socket of a dead agent: %w",
			err)
	}
	return nil
}

// listenPrivate binds under a name of its own and renames, so that nobody can
// connect before the mode is right.
func listenPrivate(path, group string) (*Listener, error) {
	private := filepath.Join(filepath.Dir(path), "."+strconv.Itoa(os.Getpid()))
	_ = os.Remove(private)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: private, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	fail := func(err error) (*Listener, error) {
		return nil, errors.Join(err, l.Close(), os.Remove(private))
	}
	if err := os.Chmod(private, 0o600); err != nil {
		return fail(err)
	}
	file, err := os.Lstat(private)
	if err != nil {
		return fail(err)
	}
	if err := os.Rename(private, path); err != nil {
		return fail(err)
	}
	return &Listener{Listener: l, path: path, group: group, file: file}, nil
}

// Listener is the control socket. It removes its name when it closes.
type Listener struct {
	net.Listener
	path, group string
	file        os.FileInfo // what the name stands for, as long as it is ours
	once        sync.Once
}

// stands tells whether commands still find the socket by its name. Where that
// cannot be told, it does.
func (l *Listener) stands() bool {
	now, err := os.Lstat(l.path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return os.SameFile(l.file, now)
}

// Close ends the listener, and removes its name unless that has come to stand
// for something else. Only the first call counts.
func (l *Listener) Close() (err error) {
	l.once.Do(func() {
		if now, e := os.Lstat(l.path); e == nil && os.SameFile(l.file, now) {
			err = os.Remove(l.path)
		}
		err = errors.Join(err, l.Listener.Close())
	})
	return err
}

// giveTo opens the socket to a group; without one it stays root's.
func giveTo(path, group string) (warning string, err error) {
	if group == "" {
		return "", nil
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return fmt.Sprintf("control.group: %q: no such group: only root may "+
			"use the control socket", group), nil
	}
	gid, err := strconv.Atoi(g.Gid)
	if err != nil {
		return "", fmt.Errorf("failed to read the id of group %q: %w", group,
			err)
	}
	if err := os.Chown(path, -1, gid); err != nil {
		return "", fmt.Errorf("failed to give control.socket to group %q: %w",
			group, err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return "", fmt.Errorf("failed to set the mode of control.socket: %w",
			err)
	}
	return "", nil
}
