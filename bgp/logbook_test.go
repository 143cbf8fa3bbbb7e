package bgp

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// logBook keeps the lines of info and above.
type logBook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write keeps a line.
func (l *logBook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// logger returns the logger to inject.
func (l *logBook) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// lines returns the lines that contain s.
func (l *logBook) lines(s string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for line := range strings.Lines(l.buf.String()) {
		if strings.Contains(line, s) {
			list = append(list, line)
		}
	}
	return list
}
