package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// lines passes whole lines on with a prefix, so that several machines can write
// at once. A line without an end stays with it.
type lines struct {
	mu     *sync.Mutex // shared by those who write to out
	out    io.Writer
	prefix string
	rest   []byte // of a line that has not ended
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 {
			return len(b), nil
		}
		if _, err := fmt.Fprintf(l.out, "%s%s\n", l.prefix, l.rest[:end]); err != nil {
			return 0, err
		}
		l.rest = l.rest[end+1:]
	}
}
