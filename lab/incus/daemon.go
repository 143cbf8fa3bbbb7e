package incus

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"recuse/lab/topology"
)

// incusd is where Debian has the daemon.
const incusd = "/usr/libexec/incus/incusd"

// Missing says what this box lacks, and how to get it; nil if nothing.
func Missing() error {
	for _, program := range []string{incusd, "incus", "nft", "ip", "unshare", "tar"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("failed to find %s: run lab/incus/install.sh", program)
		}
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("failed to use incus: not root")
	}
	return nil
}

// launcher runs incusd in a mount namespace of its own whose /sys shows the
// interfaces of its network namespace, for incusd looks there for bridges; the
// control groups are below /sys too and are kept.
const launcher = `set -e
mkdir -p "$1/cgroup"
mount --rbind /sys/fs/cgroup "$1/cgroup"
mount -t sysfs sysfs /sys
mount --rbind "$1/cgroup" /sys/fs/cgroup
INCUS_DIR="$1/state" exec ` + incusd + ` --logfile "$1/incusd.log" --group root
`

// preseed is incusd's configuration: containers are directories, nothing is
// fetched, and no network is made.
const preseed = `config:
  images.auto_update_interval: "0"
storage_pools:
- name: default
  driver: dir
profiles:
- name: default
  devices:
    root: {path: /, pool: default, type: disk}
`

// daemon is incusd.
type daemon struct {
	*topology.Process
	dir string // the run's
}

// startDaemon starts incusd in a host's namespace and configures it.
func startDaemon(ctx context.Context, h *topology.Host, dir string) (*daemon, error) {
	for _, sub := range []string{"state", "client"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o711); err != nil {
			return nil, fmt.Errorf("failed to make directory of incusd: %w", err)
		}
	}
	d := &daemon{dir: dir}
	d.Process = h.Add("incusd", func() []string {
		return []string{"unshare", "--mount", "sh", "-c", launcher, "sh", dir}
	})
	d.Ready = func() (bool, string) {
		_, err := d.client(context.Background(), "", "query", "/1.0")
		return err == nil, fmt.Sprint(err)
	}
	if err := d.Launch(ctx); err != nil {
		return nil, err
	}
	_, err := d.client(ctx, preseed, "admin", "init", "--preseed")
	return d, err
}

// command is a call of incus as a command line.
func (d *daemon) command(args ...string) []string {
	return append([]string{"env", "INCUS_DIR=" + d.dir + "/state", "INCUS_CONF=" + d.dir + "/client", "incus"}, args...)
}

// client runs incus and returns what it printed.
func (d *daemon) client(ctx context.Context, stdin string, args ...string) (string, error) {
	argv := d.command(args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("failed to run incus %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(problem.String()))
	}
	return out.String(), nil
}

// endWithin is how long incusd may take over its end before it is killed.
const endWithin = 20 * time.Second

// shutdown ends incusd and all its containers in order.
func (d *daemon) shutdown() error {
	if !d.Running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	_, err := d.client(ctx, "", "admin", "shutdown", "--timeout", "10")
	if err != nil {
		return err
	}
	return d.Wait(ctx)
}
