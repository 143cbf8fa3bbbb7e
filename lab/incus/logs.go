package incus

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// Versions are those of the programs that take part, by the containers' word.
func (b *network) Versions(ctx context.Context) map[string]string {
	n, all := b.nodes[0], b.router.versions(ctx)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, n.box.version(ctx, "recuse", "recuse", "--version"))
	if b.options.AdGuardHome == "" {
		maps.Copy(all, n.box.version(ctx, "unbound", "unbound", "-V"))
	} else {
		maps.Copy(all, n.box.version(ctx, "adguardhome", "AdGuardHome", "--version"))
	}
	if out, err := b.daemon.client(ctx, "", "--version"); err == nil {
		all["incus"] = strings.TrimSpace(out)
	}
	return all
}

// Logs copies the hosts' configurations and logs into a directory.
func (b *network) Logs(dir string) error {
	for from, to := range map[string]string{
		filepath.Join(b.run.path, "hosts"):      dir,
		filepath.Join(b.run.path, "incusd.log"): filepath.Join(dir, "incusd.log"),
	} {
		if err := copyAll(from, to); err != nil {
			return err
		}
	}
	return nil
}

// copyAll copies a file, or the files below a directory, readable by all.
func copyAll(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("failed to read log: %w", err)
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return fmt.Errorf("failed to make directory of logs: %w", err)
		}
		return os.WriteFile(target, text, 0o644)
	})
}
