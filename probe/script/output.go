package script

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"recuse/probe"
)

const (
	// keep is how much of the output is kept, in bytes.
	keep = 4096
	// lineMax is how much of its first line is shown, in bytes.
	lineMax = 200
)

// output reads what a program writes, keeps the beginning and throws the rest
// away, so that the program never waits for a reader.
type output struct {
	r    *os.File
	kept []byte
	done chan struct{} // closed when the reader has ended; nil: not begun
}

// newOutput returns an output and the end of its pipe that the program gets.
func newOutput() (o *output, w *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("failed to make a pipe: %w", err)
	}
	return &output{r: r}, w, nil
}

// begin starts to read.
func (o *output) begin() {
	o.done = make(chan struct{})
	go func() {
		defer close(o.done)
		buf := make([]byte, keep)
		for {
			n, err := o.r.Read(buf)
			o.keep(buf[:n])
			if err != nil {
				return
			}
		}
	}()
}

// keep keeps what there is room for.
func (o *output) keep(b []byte) {
	o.kept = append(o.kept, b[:min(len(b), keep-len(o.kept))]...)
}

// end stops reading and returns the first line. The program has ended; what it
// wrote is in the pipe or read already, and whoever still holds the other end is
// not waited for.
func (o *output) end() string {
	_ = o.r.SetReadDeadline(time.Unix(1, 0)) // Pipes can have one.
	<-o.done
	_ = o.r.SetReadDeadline(time.Time{})
	o.drain()
	return firstLine(o.kept)
}

// drain keeps what is in the pipe, without waiting for more.
func (o *output) drain() {
	raw, err := o.r.SyscallConn()
	if err != nil {
		return // It is closed: there is nothing to keep.
	}
	buf := make([]byte, keep)
	for len(o.kept) < keep {
		var n int
		err := raw.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), buf)
			return true // Whatever came of it, do not wait.
		})
		if err != nil || n <= 0 {
			return
		}
		o.keep(buf[:n])
	}
}

// close closes the pipe: a process that still writes to it gets SIGPIPE.
func (o *output) close() { _ = o.r.Close() }

// firstLine returns the first line that is not blank, as it may be shown.
func firstLine(b []byte) string {
	for line := range strings.SplitSeq(string(b), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return probe.Printable(line, lineMax)
		}
	}
	return ""
}
