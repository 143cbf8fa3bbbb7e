package agent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// trimAfter is when the start is over and its memory can be given back.
const trimAfter = 20 * time.Second

// trim gives back, once, the memory that only the start needed: most of the
// program's pages are read then (thousands of type descriptors of libraries)
// and never again. It costs nothing but a few page faults.
func trim(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(trimAfter):
	}
	debug.FreeOSMemory()
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("failed to find the program's file: %w", err)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("failed to read the memory map: %w", err)
	}
	defer maps.Close()
	for _, m := range readOnlyOf(maps, exe) {
		if err := m.forget(); err != nil {
			return err
		}
	}
	return nil
}

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// readOnlyOf finds where a file is mapped without leave to write, and as it is
// in the file: such pages come back from there when they are read. A mapping
// that was changed before it became read-only, as a dynamic linker does, is
// left alone.
func readOnlyOf(smaps io.Reader, file string) []mapping {
	var list []mapping
	var current mapping
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		switch {
		case len(f) >= 5 && strings.Contains(f[0], "-"):
			current = mapping{}
			if len(f) > 5 && f[5] == file && !strings.Contains(f[1], "w") {
				current = parseRange(f[0])
			}
		case len(f) == 3 && f[0] == "Anonymous:" && f[1] == "0" &&
			current != mapping{}:
			list = append(list, current)
		}
	}
	return list
}

// parseRange reads the addresses of a mapping; one that cannot be read is none.
func parseRange(s string) mapping {
	from, to, _ := strings.Cut(s, "-")
	a, err1 := strconv.ParseUint(from, 16, 64)
	b, err2 := strconv.ParseUint(to, 16, 64)
	if err1 != nil || err2 != nil || a >= b {
		return mapping{}
	}
	return mapping{uintptr(a), uintptr(b)}
}

// forget drops the range from this process's memory.
func (m mapping) forget() error {
	// The range is mapped for the life of the process and not the heap's.
	_, _, errno := unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from,
		unix.MADV_DONTNEED)
	if errno != 0 {
		return fmt.Errorf("failed to give back memory: %w", errno)
	}
	return nil
}
