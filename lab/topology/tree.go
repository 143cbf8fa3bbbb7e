package topology

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalTree sends a signal to processes and to all that descend from them: an
// agent may have helpers, and a command of theirs in groups of its own. Those
// that are started meanwhile are found by another look.
func signalTree(roots []int, s syscall.Signal) error {
	told := map[int]bool{}
	for {
		tree, err := descent(roots)
		if err != nil {
			return err
		}
		fresh := 0
		for _, pid := range tree {
			if told[pid] {
				continue
			}
			told[pid] = true
			fresh++
			if err := unix.Kill(pid, s); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("failed to send %s to process %d: %w", s, pid, err)
			}
		}
		if fresh == 0 {
			return nil
		}
	}
}

// descent lists the roots that live and all processes below them.
func descent(roots []int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("failed to list processes: %w", err)
	}
	children := map[int][]int{}
	alive := map[int]bool{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok {
			alive[pid] = true
			children[parent] = append(children[parent], pid)
		}
	}
	var tree []int
	for _, r := range roots {
		if alive[r] {
			tree = append(tree, r)
		}
	}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree, nil
}

// parentOf is the parent of a process, from the fourth field of its stat
// (proc(5)); the second is a name in brackets that may hold anything. A zombie
// does not count as living.
func parentOf(pid int) (parent int, alive bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 || fields[0] == "Z" {
		return 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, err == nil
}
