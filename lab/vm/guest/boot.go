package guest

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mounts are the file systems that a box has and an initramfs has not.
var mounts = []struct{ kind, dir string }{
	{"proc", "/proc"},
	{"sysfs", "/sys"},
	{"devtmpfs", "/dev"},
	{"tmpfs", "/run"}, // named network namespaces are mounts below it
	{"tmpfs", "/tmp"},
}

// boot makes of a fresh kernel a box that tests can run on.
func boot(p Plan) error {
	for _, m := range mounts {
		if err := os.MkdirAll(m.dir, 0o755); err != nil {
			return fmt.Errorf("failed to make directory: %w", err)
		}
		if err := unix.Mount(m.kind, m.dir, m.kind, 0, ""); err != nil {
			return fmt.Errorf("failed to mount %s: %w", m.dir, err)
		}
	}
	for _, path := range p.Modules {
		if err := loadModule(path); err != nil {
			return err
		}
	}
	return loopbackUp()
}

// loadModule loads one kernel module.
func loadModule(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("failed to open kernel module: %w", err)
	}
	defer file.Close()
	err = unix.FinitModule(int(file.Fd()), "", 0)
	if err != nil && !errors.Is(err, unix.EEXIST) { // built in
		return fmt.Errorf("failed to load kernel module %s: %w", path, err)
	}
	return nil
}

// loopbackUp sets lo up by the old ioctl, which needs no netlink library.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("failed to open socket: %w", err)
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("failed to name lo: %w", err)
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("failed to set lo up: %w", err)
	}
	return nil
}
