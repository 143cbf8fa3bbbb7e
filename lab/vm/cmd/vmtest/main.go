// Command vmtest runs the tests of packages on other kernels, in virtual machines.
//
//	vmtest -kernels out/vm -arch arm64,amd64 ./netlinkx ./agent:TestVM
//
// It exits with 0 if every test of every architecture passed, and some ran.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"recuse/lab/vm"
	"recuse/lab/vm/guest"
)

// options are what the command line says.
type options struct {
	kernels string // directory; below it one for each architecture
	modules []string
	env     []string
	timeout time.Duration
	tests   []string
}

func main() { os.Exit(run(os.Args[1:], os.Stdout)) }

// run runs every architecture, and returns the exit status.
func run(args []string, out io.Writer) int {
	flags := flag.NewFlagSet("vmtest", flag.ContinueOnError)
	kernels := flags.String("kernels", "out/vm", "`directory` with a directory of fetch-kernel.sh for each architecture")
	arches := flags.String("arch", strings.Join(vm.Arches(), ","), "architectures, `list` with commas")
	modules := flags.String("modules", "dummy,sch_netem", "kernel modules to load, `list` with commas")
	env := flags.String("env", "", "environment of the tests, KEY=VALUE, `list` with commas")
	timeout := flags.Duration("timeout", 6*time.Minute, "for one machine")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(out, "no packages: name some, such as ./netlinkx or ./agent:TestVM")
		return 2
	}
	o := options{*kernels, list(*modules), list(*env), *timeout, flags.Args()}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sum, ok := o.runAll(ctx, list(*arches), out)
	fmt.Fprintln(out, sum)
	if !ok || !sum.OK() {
		fmt.Fprintln(out, "FAIL")
		return 1
	}
	return 0
}

// runAll runs the architectures at once, since an emulated machine keeps one
// core busy. It reports whether all went well.
func (o options) runAll(ctx context.Context, arches []string, out io.Writer) (sum guest.Totals, ok bool) {
	var mu sync.Mutex // guards sum and ok, and every line of out
	var machines sync.WaitGroup
	ok = true
	for _, arch := range arches {
		machines.Go(func() {
			l := &lines{mu: &mu, out: out, prefix: arch + ": "}
			totals, err := o.runArch(ctx, arch, l)
			if err != nil {
				fmt.Fprintln(l, err)
			}
			mu.Lock()
			defer mu.Unlock()
			ok = ok && err == nil && totals.OK()
			sum.Add(totals)
		})
	}
	machines.Wait()
	return sum, ok
}

// runArch builds all that a machine needs, in a directory that is gone
// afterwards, and runs it.
func (o options) runArch(ctx context.Context, arch string, out io.Writer) (guest.Totals, error) {
	kernel := filepath.Join(o.kernels, arch, "vmlinuz")
	if _, err := os.Stat(kernel); err != nil {
		return guest.Totals{}, fmt.Errorf("no kernel (lab/vm/fetch-kernel.sh %s %s fetches one): %w",
			arch, filepath.Dir(kernel), err)
	}
	dir, err := os.MkdirTemp("", "vmtest")
	if err != nil {
		return guest.Totals{}, fmt.Errorf("failed to make a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	start := time.Now()
	image := filepath.Join(dir, "initrd")
	if err := o.buildImage(ctx, arch, dir, image); err != nil {
		return guest.Totals{}, err
	}
	built := time.Now()
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	m := vm.Machine{Arch: arch, Kernel: kernel, Image: image}
	totals, err := m.Run(ctx, out)
	fmt.Fprintf(out, "%s (build %.1f s, machine %.1f s)\n", totals,
		built.Sub(start).Seconds(), time.Since(built).Seconds())
	return totals, err
}

// buildImage compiles init and the tests, and writes the image.
func (o options) buildImage(ctx context.Context, arch, dir, path string) error {
	init, err := vm.BuildInit(ctx, arch, dir)
	if err != nil {
		return err
	}
	image := vm.Image{
		Init:    init,
		Tree:    filepath.Join(o.kernels, arch, "modules"),
		Modules: o.modules,
		Env:     o.env,
	}
	for _, spec := range o.tests {
		test, err := vm.BuildTest(ctx, arch, dir, spec)
		if err != nil {
			return err
		}
		image.Tests = append(image.Tests, test)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("failed to make image: %w", err)
	}
	defer file.Close()
	return image.Write(ctx, file)
}

// list splits a list with commas; an empty one has no entries.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}
