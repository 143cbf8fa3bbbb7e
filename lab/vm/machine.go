package vm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"recuse/lab/vm/guest"
)

// A Machine is one virtual machine.
type Machine struct {
	Arch   string // as Go spells it
	Kernel string // file
	Image  string // file
	Qemu   string // the program; empty is the one of the architecture
}

// Arches returns the architectures that a Machine can have.
func Arches() []string { return []string{"arm64", "amd64"} }

// command returns qemu's program and arguments. There is no disk and no network,
// the console is the output, and a reboot, as after a panic, is the end.
func (m Machine) command() ([]string, error) {
	var args []string
	console := "ttyS0"
	switch m.Arch {
	case "amd64":
		args = []string{"qemu-system-x86_64", "-cpu", "max"}
	case "arm64":
		args = []string{"qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57"}
		console = "ttyAMA0"
	default:
		return nil, fmt.Errorf("unknown architecture %q: known are %s", m.Arch, strings.Join(Arches(), ", "))
	}
	if m.Qemu != "" {
		args[0] = m.Qemu
	}
	return append(args,
		"-accel", "tcg", "-m", "512", "-nographic", "-no-reboot", "-nic", "none",
		"-kernel", m.Kernel, "-initrd", m.Image,
		"-append", "console="+console+" quiet panic=-1"), nil
}

// Run runs the machine until it is off or ctx is done, copies its console to out,
// and returns what the guest counted. Without totals there is an error.
func (m Machine) Run(ctx context.Context, out io.Writer) (guest.Totals, error) {
	args, err := m.command()
	if err != nil {
		return guest.Totals{}, err
	}
	console, w := io.Pipe()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.WaitDelay = time.Second // for a child that still holds the pipe
	if err := cmd.Start(); err != nil {
		return guest.Totals{}, fmt.Errorf("failed to start %s: %w", args[0], err)
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		w.Close()
		ended <- err
	}()
	totals, judged := watch(console, out)
	err = <-ended
	switch {
	case judged:
		return totals, nil
	case ctx.Err() != nil:
		return totals, fmt.Errorf("the machine was not done in time: %w", ctx.Err())
	case err != nil:
		return totals, fmt.Errorf("%s ended without totals: %w", args[0], err)
	}
	return totals, errors.New("the machine ended without totals: its kernel or init broke, see above")
}

// watch copies the console to out, and returns the totals if they were printed.
func watch(console io.Reader, out io.Writer) (totals guest.Totals, judged bool) {
	lines := bufio.NewReader(console)
	for {
		line, err := lines.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		if t, ok := guest.ParseTotals(line); ok {
			totals, judged = t, true
		} else if line != "" || err == nil {
			fmt.Fprintln(out, line)
		}
		if err != nil {
			return totals, judged
		}
	}
}
