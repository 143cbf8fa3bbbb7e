package incus

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"recuse/lab/topology"
)

// box is a container.
type box struct {
	daemon   *daemon
	name     string   // of the host: n1, r1
	instance string   // what Incus calls it
	dir      string   // the host's files; /lab in the container
	networks []string // that it has an interface on
	mounts   map[string]string
}

// newBox describes a container and makes the directory of its files. What it
// writes itself goes to log there.
func newBox(d *daemon, r *run, name string, networks []string) (*box, error) {
	b := &box{daemon: d, name: name, instance: instance(r.id, name), networks: networks,
		dir: filepath.Join(r.path, "hosts", name)}
	b.mounts = map[string]string{"/lab": b.dir}
	if err := os.MkdirAll(filepath.Join(b.dir, "log"), 0o755); err != nil {
		return nil, fmt.Errorf("failed to make directory of %s: %w", name, err)
	}
	// Root of the container is nobody here.
	if err := os.Chmod(filepath.Join(b.dir, "log"), 0o777); err != nil {
		return nil, fmt.Errorf("failed to open directory of %s: %w", name, err)
	}
	return b, nil
}

// write puts a file into the host's directory, readable by all.
func (b *box) write(name, text string) error {
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("failed to make directory of %s: %w", b.name, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("failed to write %s of %s: %w", name, b.name, err)
	}
	return nil
}

// create makes the container, which does not run yet.
func (b *box) create(ctx context.Context) error {
	_, err := b.daemon.client(ctx, b.definition(), "init", "--quiet", imageAlias, b.instance)
	return err
}

// definition is the container's devices as Incus reads them: interfaces whose
// far ends are on the lab's bridges, and the mounts. The device names that its
// own profile has are none of these.
func (b *box) definition() string {
	var s strings.Builder
	s.WriteString("devices:\n")
	for _, network := range b.networks {
		fmt.Fprintf(&s, "  %s: {type: nic, nictype: bridged, parent: %s, name: %s, host_name: %s}\n",
			topology.Device(network), network, topology.Device(network), topology.FarEnd(b.name, network))
	}
	var targets []string
	for target := range b.mounts {
		targets = append(targets, target)
	}
	sort.Strings(targets)
	for i, target := range targets {
		fmt.Fprintf(&s, "  mount%d: {type: disk, source: %q, path: %q}\n", i, b.mounts[target], target)
	}
	return s.String()
}

// push puts a file of the machine into the container, owned by its root.
func (b *box) push(ctx context.Context, from, to string) error {
	_, err := b.daemon.client(ctx, "", "file", "push", "--quiet", "--uid", "0", "--gid", "0", "--mode", "0644", from, b.instance+to)
	return err
}

// start starts the container and returns the process id of its init.
func (b *box) start(ctx context.Context) (pid int, err error) {
	if _, err := b.daemon.client(ctx, "", "start", "--quiet", b.instance); err != nil {
		return 0, err
	}
	out, err := b.daemon.client(ctx, "", "query", "/1.0/instances/"+b.instance+"/state")
	if err != nil {
		return 0, err
	}
	var state struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(out), &state); err != nil || state.PID <= 0 {
		return 0, fmt.Errorf("failed to read the state of %s: %w: %q", b.name, err, out)
	}
	return state.PID, nil
}

// kill kills all processes of the container at once.
func (b *box) kill(ctx context.Context) error {
	_, err := b.daemon.client(ctx, "", "stop", "--quiet", "--force", b.instance)
	return err
}

// pause freezes all processes of the container; resume lets them go on.
func (b *box) pause(ctx context.Context) error {
	_, err := b.daemon.client(ctx, "", "pause", "--quiet", b.instance)
	return err
}

// resume undoes pause.
func (b *box) resume(ctx context.Context) error {
	_, err := b.daemon.client(ctx, "", "resume", "--quiet", b.instance)
	return err
}

// inside is a command that is run in the container.
func (b *box) inside(argv ...string) []string {
	return b.daemon.command(append([]string{"exec", b.instance, "--"}, argv...)...)
}

// run runs a command in the container and returns what it printed.
func (b *box) run(ctx context.Context, argv ...string) (string, error) {
	return b.daemon.client(ctx, "", append([]string{"exec", b.instance, "--"}, argv...)...)
}

// version is the first line that a program in the container prints of itself,
// under a name; none if it cannot be run.
func (b *box) version(ctx context.Context, name string, argv ...string) map[string]string {
	out, err := b.run(ctx, argv...)
	if err != nil {
		return nil
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return map[string]string{name: line}
}
