package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"recuse/agent"
	"recuse/agent/config"
	"recuse/agent/control"
)

// defaultConfig is where the packages put the configuration.
const defaultConfig = "/etc/recuse/recuse.yaml"

// runCommand is the daemon.
func runCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "run",
		Short: "run the agent",
		Long: "Run the agent in the foreground until SIGTERM or SIGINT. The " +
			"node then leaves the routing in order; a second signal skips " +
			"the waits.",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return daemon(path) },
	}
	configFlag(c, &path)
	return c
}

// daemon runs the agent until it has been told to stop. A reload that cannot be
// made under live sessions ends one agent and begins the next.
func daemon(path string) error {
	// Reloads must find the file wherever this process was started.
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("failed to find %s: %w", path, err)
	}
	conf, err := load(path)
	if err != nil {
		return err
	}
	spareProcessors()
	log := agent.NewLog(os.Stderr, conf.Log)
	defer log.Close()
	// Before anything is made on the box: a signal must not leave it there.
	stop, hurry := stopSignals()
	hangups := harmlessSignals()
	var before *config.Config
	for {
		a, err := begin(conf, before, log)
		if err != nil {
			return err
		}
		err = runReloading(a, stop, hurry, hangups)
		var again *agent.Restart
		if !errors.As(err, &again) {
			return err
		}
		before, conf = a.Config(), again.Config
	}
}

// begin makes the agent. If a reload has asked for settings with which none can
// be made, such as a link that somebody else has, it makes the one of before,
// which is known to work: a mistake in a reload must not keep a node out.
func begin(conf, before *config.Config, log *agent.Log) (*agent.Agent, error) {
	for _, w := range conf.Warnings {
		log.Warn(w)
	}
	a, err := agent.New(conf, version, log)
	if err == nil || before == nil {
		return a, err
	}
	old, errOld := agent.New(before, version, log)
	if errOld != nil {
		return nil, errors.Join(err, errOld)
	}
	old.Refused(err)
	return old, nil
}

// leastProcessors is how many goroutines may run at once at the least.
const leastProcessors = 8

// spareProcessors lets more goroutines run at once than there are cores, so that
// one which computes (the garbage collector, a parser) does not make a packet
// wait for Go's time slice of 10 ms: the kernel shares the cores better. The
// figures are in package bfd. A value from the environment stands.
func spareProcessors() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(leastProcessors, 2*runtime.NumCPU()))
	}
}

// runReloading runs one agent and reloads it on SIGHUP. What a reload refuses
// is in the log and in status; a signal can allow nothing.
func runReloading(a *agent.Agent, stop, hurry context.Context,
	hangups <-chan os.Signal) error {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		for {
			select {
			case <-hangups:
				_, _ = a.Reload(ctx, control.Reload{}) // it logs
			case <-ctx.Done():
				return
			}
		}
	}()
	return a.Run(stop, hurry)
}

// harmlessSignals catches, for the life of the process, what would end it
// between two agents or with the reader of its log: a hangup asks for a reload,
// and a closed pipe for nothing. Programs of checks begin without the catch.
func harmlessSignals() (hangups <-chan os.Signal) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return asked
}

// stopSignals ends the first context on a first signal, and the second on a
// second.
func stopSignals() (stop, hurry context.Context) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	stop, first := context.WithCancel(context.Background())
	hurry, second := context.WithCancel(context.Background())
	go func() {
		<-signals
		first()
		<-signals
		second()
	}()
	return stop, hurry
}
