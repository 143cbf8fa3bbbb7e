package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"recuse/agent"
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

// daemon runs the agent until it has been told to stop.
func daemon(path string) error {
	conf, err := load(path)
	if err != nil {
		return err
	}
	log, flush := agent.NewLog(os.Stderr, conf.Log)
	defer flush()
	for _, w := range conf.Warnings {
		log.Warn(w)
	}
	// Before anything is made on the box: a signal must not leave it there.
	stop, hurry := stopSignals()
	a, err := agent.New(conf, version, log)
	if err != nil {
		return err
	}
	return a.Run(stop, hurry)
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
