package agent

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"recuse/agent/config"
)

// logQueue is how many lines wait while the log's end does not take any.
const logQueue = 1024

// Log is the agent's logger. Lines are written by a goroutine of their own, so
// that a full disk or a stuck pipe never holds up a withdrawal; what does not
// fit into the queue is dropped and counted in a line.
type Log struct {
	*slog.Logger
	level slog.LevelVar
	queue *queue
}

// NewLog makes a logger that writes to w. Close it to see the last lines.
func NewLog(w io.Writer, c config.Log) *Log {
	l := &Log{queue: newQueue(w)}
	l.level.Set(c.Level)
	opts := &slog.HandlerOptions{Level: &l.level}
	if c.Format == config.LogJSON {
		l.Logger = slog.New(slog.NewJSONHandler(l.queue, opts))
	} else {
		l.Logger = slog.New(slog.NewTextHandler(l.queue, opts))
	}
	return l
}

// Close writes what is queued and ends the goroutine.
func (l *Log) Close() { l.queue.close() }

// queue is a writer that never blocks.
type queue struct {
	lines   chan []byte
	dropped atomic.Int64
	once    sync.Once
	quit    chan struct{}
	done    chan struct{}
}

// newQueue starts the goroutine that writes to w.
func newQueue(w io.Writer) *queue {
	q := &queue{lines: make(chan []byte, logQueue), quit: make(chan struct{}),
		done: make(chan struct{})}
	go q.write(w)
	return q
}

// Write queues one line; it never fails.
func (q *queue) Write(line []byte) (int, error) {
	select {
	case q.lines <- append([]byte(nil), line...):
	default:
		q.dropped.Add(1)
	}
	return len(line), nil
}

// write is the goroutine.
func (q *queue) write(w io.Writer) {
	defer close(q.done)
	for {
		select {
		case line := <-q.lines:
			q.put(w, line)
		case <-q.quit:
			for len(q.lines) > 0 {
				q.put(w, <-q.lines)
			}
			return
		}
	}
}

// put writes one line. A log that cannot be written is no reason to stop
// serving, and there is nobody to tell.
func (q *queue) put(w io.Writer, line []byte) {
	_, _ = w.Write(line)
	if n := q.dropped.Swap(0); n > 0 {
		_, _ = fmt.Fprintf(w, "%d log lines were dropped\n", n)
	}
}

// close writes what is left.
func (q *queue) close() {
	q.once.Do(func() { close(q.quit) })
	<-q.done
}
