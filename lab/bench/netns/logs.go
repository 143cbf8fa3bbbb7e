package netns

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"recuse/lab/topology"
)

// logged are the endings of the files that Logs copies.
var logged = []string{".log", ".conf", ".yaml", ".nft", ".lua"}

// Logs copies every host's logs and configurations into a directory.
func (b *network) Logs(dir string) error {
	from := b.lab.Dir()
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() || !slices.Contains(logged, filepath.Ext(path)) {
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return copyFile(path, filepath.Join(dir, rel))
	})
}

// copyFile copies one file, readable by all, and makes its directory.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("failed to read log: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("failed to make directory of logs: %w", err)
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		return fmt.Errorf("failed to copy log: %w", err)
	}
	return nil
}

// Versions are those of the programs that take part.
func (b *network) Versions(ctx context.Context) map[string]string {
	programs := []string{"unbound"}
	if b.options.Design == Relay {
		programs = append(programs, "dnsdist")
	}
	if b.options.Design == Anycast {
		programs = append(programs, b.options.Router)
	}
	all := map[string]string{}
	for _, p := range programs {
		maps.Copy(all, topology.Version(ctx, p))
	}
	if b.options.Design == Anycast {
		maps.Copy(all, b.lab.Agent().Versions(ctx))
	}
	return all
}
