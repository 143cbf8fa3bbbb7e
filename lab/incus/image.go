package incus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// packages are what the image has beside Debian's minimum.
const packages = "systemd-sysv,iproute2,unbound,frr"

// suite is the Debian that the containers run.
const suite = "bookworm"

// overlay are the files that the image has beside Debian's: how the units are
// run in a container of the lab.
//
//go:embed overlay
var overlay embed.FS

// wants enable the units that no package enables.
var wants = []string{"recuse.service", "adguardhome.service"}

// image makes the image for the options unless it has been made, and returns
// its path. What it is made of is in its name, and runs at the same time make
// it once.
func image(ctx context.Context, o Options) (string, error) {
	sum, err := recipe(o)
	if err != nil {
		return "", err
	}
	path := filepath.Join(o.Cache, fmt.Sprintf("%s-%s-%x.tar", suite, o.Arch, sum[:6]))
	if err := os.MkdirAll(o.Cache, 0o755); err != nil {
		return "", fmt.Errorf("failed to make cache: %w", err)
	}
	lock, err := os.Create(filepath.Join(o.Cache, "lock"))
	if err != nil {
		return "", fmt.Errorf("failed to open lock of the cache: %w", err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("failed to lock the cache: %w", err)
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	o.Log.Info("making the image, once", "path", path)
	return path, build(ctx, o, path)
}

// recipe is a sum of all that the image depends on.
func recipe(o Options) ([sha256.Size]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %s %s\n%s", suite, packages, wants, o.Arch, debootstrap)
	err := eachOverlay(func(name string, text []byte) error {
		fmt.Fprintf(&b, "%s\n%s\n", name, text)
		return nil
	})
	return sha256.Sum256(b.Bytes()), err
}

// eachOverlay calls f for every file of the overlay, by its path in the image.
func eachOverlay(f func(name string, text []byte) error) error {
	return fs.WalkDir(overlay, "overlay", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := overlay.ReadFile(path)
		if err != nil {
			return err
		}
		return f(strings.TrimPrefix(path, "overlay/"), text)
	})
}

// debootstrap is a script: the directory, the architecture, the suite, the
// packages, the mirror. Without a mirror it takes the first that apt names.
const debootstrap = `set -e
mirror=$5
if [ -z "$mirror" ]; then
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $3" | head -n 1)
fi
debootstrap --arch="$2" --variant=minbase --include="$4" "$3" "$1" "${mirror:-http://deb.debian.org/debian}"
rm -rf "$1"/var/cache/apt/archives/*.deb "$1"/var/lib/apt/lists/*
`

// build makes the image in a directory beside its path and moves it there.
func build(ctx context.Context, o Options, path string) (err error) {
	work, err := os.MkdirTemp(o.Cache, "build-")
	if err != nil {
		return fmt.Errorf("failed to make directory of the image: %w", err)
	}
	defer func() { err = errors.Join(err, unmount(work), os.RemoveAll(work)) }()
	root := filepath.Join(work, "rootfs")
	if err := shell(ctx, debootstrap, root, debian[o.Arch].debian, suite, packages, o.Mirror); err != nil {
		return err
	}
	if err := lay(root); err != nil {
		return err
	}
	metadata := fmt.Sprintf("architecture: %s\ncreation_date: 1\nproperties: {os: debian, release: %s}\n", debian[o.Arch].incus, suite)
	if err := os.WriteFile(filepath.Join(work, "metadata.yaml"), []byte(metadata), 0o644); err != nil {
		return fmt.Errorf("failed to write metadata: %w", err)
	}
	if err := shell(ctx, `tar --numeric-owner -C "$1" -cf "$1/image.tar" metadata.yaml rootfs`, work); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(work, "image.tar"), path); err != nil {
		return fmt.Errorf("failed to keep the image: %w", err)
	}
	return nil
}

// lay puts the overlay over the root directory and enables its units.
func lay(root string) error {
	err := eachOverlay(func(name string, text []byte) error {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o644)
	})
	for _, unit := range wants {
		link := filepath.Join(root, "etc/systemd/system/multi-user.target.wants", unit)
		err = errors.Join(err, os.Symlink("/etc/systemd/system/"+unit, link))
	}
	if err != nil {
		return fmt.Errorf("failed to lay files over the image: %w", err)
	}
	return nil
}

// shellGrace is how long what a cancelled script started may hold on to its
// output.
const shellGrace = 5 * time.Second

// shell runs a script with arguments. What it printed is in its error. When ctx
// ends the script ends, with all that it has started.
func shell(ctx context.Context, script string, args ...string) error {
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = shellGrace
	out, err := cmd.CombinedOutput()
	if err != nil {
		const last = 2000
		return fmt.Errorf("failed to make the image: %w: %s", errors.Join(err, context.Cause(ctx)), out[max(0, len(out)-last):])
	}
	return nil
}
