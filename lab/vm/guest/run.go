package guest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// Main is process 1. It never returns: the machine is off, or, if even that
// fails, the kernel panics for want of a process 1, which ends qemu too.
func Main() {
	totals, err := run(os.Stdout)
	if err != nil {
		fmt.Println("recuse-vm: " + err.Error())
		totals.Failed++
	}
	// On a line of its own, even if a test left one unfinished.
	fmt.Println("\n" + totals.line())
	unix.Sync()
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
		fmt.Println("recuse-vm: failed to power off: " + err.Error())
	}
}

// run boots, and runs all tests of the plan.
func run(out io.Writer) (Totals, error) {
	var sum Totals
	p, err := loadPlan()
	if err != nil {
		return sum, err
	}
	if err := boot(p); err != nil {
		return sum, err
	}
	for _, t := range p.Tests {
		fmt.Fprintf(out, "=== %s\n", t.Name)
		sum.Add(t.run(p.Env, out))
	}
	return sum, nil
}

// run runs one test binary to its end, passes on what it prints, and counts. A
// binary that ends badly without a failed test, by a panic or for want of a
// file, counts as one.
func (t Test) run(env []string, out io.Writer) Totals {
	var n Totals
	r, w := io.Pipe()
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadString('\n')
			io.WriteString(out, line)
			n.Count(strings.TrimRight(line, "\r\n"))
			if err != nil {
				return
			}
		}
	}()
	cmd := exec.Command(t.Path, append([]string{"-test.v"}, t.Args...)...)
	cmd.Dir = t.Dir
	cmd.Env = append([]string{"HOME=/", "PATH=/bin", "TMPDIR=/tmp"}, env...)
	cmd.Stdout, cmd.Stderr = w, w
	err := cmd.Run()
	w.Close()
	<-counted
	if err != nil && n.Failed == 0 {
		fmt.Fprintf(out, "recuse-vm: %s: %v\n", t.Name, err)
		n.Failed++
	}
	return n
}
