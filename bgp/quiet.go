package bgp

import (
	"context"
	"log/slog"
)

// quiet is a handler that turns every record into a debug one: what GoBGP
// says of itself is for developers, what matters is logged by this package.
type quiet struct{ next slog.Handler }

// Enabled reports whether debug records are wanted at all.
func (q quiet) Enabled(ctx context.Context, _ slog.Level) bool {
	return q.next.Enabled(ctx, slog.LevelDebug)
}

// Handle passes the record on as a debug one.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return q.next.Handle(ctx, r)
}

// WithAttrs returns a quiet handler with more attributes.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.next.WithAttrs(attrs)} }

// WithGroup returns a quiet handler with a group.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.next.WithGroup(name)} }
