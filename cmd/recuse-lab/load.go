package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"recuse/lab/load"
	"recuse/lab/load/stub"
)

// loadFlags are the flags of load.
type loadFlags struct {
	rate      float64
	duration  time.Duration
	patience  time.Duration
	clients   int
	stub      string
	transport string
	names     string
	sources   []string
	csv       string
	json      bool
}

// loadCommand is the generator alone.
func loadCommand() *cobra.Command {
	var l loadFlags
	c := &cobra.Command{
		Use:   "load SERVER[:PORT]...",
		Short: "ask DNS servers questions at a rate, and say what became of them",
		Long: `Ask in open loop: each question leaves when it is due, whatever became of the
others, and its time counts from then. The names are a home's mix of the lab's own
zones, or those of a file, a name and optionally a type in each line, in which
{random} stands for a new label each time. Ctrl-C ends it, and what was asked
counts.

Exit status 3 if the figures say nothing, since this box was too busy to send in
time.`,
		Example: `  recuse-lab load 10.1.9.53 --rate 100 --duration 30s
  recuse-lab load 127.0.0.1:5300 --rate 20000 --names names.txt --csv load.csv
  recuse-lab load 192.0.2.1 192.0.2.2 --stub glibc --transport tcp-kept`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return l.run(c, args) },
	}
	f := c.Flags()
	f.Float64Var(&l.rate, "rate", 20, "questions a second of all clients together")
	f.DurationVar(&l.duration, "duration", 10*time.Second, "how long to ask; 0: until Ctrl-C")
	f.DurationVar(&l.patience, "patience", 0, "how long the last questions are awaited; 0: until their stubs give up")
	f.IntVar(&l.clients, "clients", 1, "how many clients ask")
	f.StringVar(&l.stub, "stub", stub.Models()[0].Name, "how a client asks: "+join(stubNames()))
	f.StringVar(&l.transport, "transport", string(load.UDP), "how clients reach their servers: "+join(transports()))
	f.StringVar(&l.names, "names", "", "file of what to ask for; - is standard input")
	f.StringSliceVar(&l.sources, "source", nil, "source addresses, which the clients take in turn")
	f.StringVar(&l.csv, "csv", "", "file for every question, one line each; - is standard output")
	f.BoolVar(&l.json, "json", false, "print the figures as JSON")
	return c
}

// run asks and prints.
func (l *loadFlags) run(c *cobra.Command, args []string) error {
	config, err := l.config(c.InOrStdin(), args)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	var csv *load.Writer
	finish := func() error { return nil }
	if l.csv != "" {
		if csv, finish, err = l.writer(out); err != nil {
			return err
		}
		config.Record = csv.Write
	}
	records, err := load.Run(c.Context(), config)
	if err := errors.Join(err, finish()); err != nil {
		return err
	}
	f := load.Summarize(records)
	if l.csv == "-" {
		out = c.ErrOrStderr() // the figures must not be among the lines
	}
	if err := l.print(out, f); err != nil {
		return err
	}
	if f.Void != "" {
		return exitCode(exitVoid)
	}
	return nil
}

// config is the run that the command line says.
func (l *loadFlags) config(in io.Reader, args []string) (load.Config, error) {
	c := load.Config{Rate: l.rate, Duration: l.duration, Patience: l.patience, Transport: load.Transport(l.transport)}
	if err := known("transport", l.transport, transports()); err != nil {
		return c, err
	}
	if l.rate <= 0 || l.rate > load.MaxRate {
		return c, fmt.Errorf("%w: --rate: %v: must be above 0 and at most %d", errUsage, l.rate, load.MaxRate)
	}
	if l.clients < 1 || l.duration < 0 || l.patience < 0 {
		return c, fmt.Errorf("%w: --clients must be at least 1, --duration and --patience not negative", errUsage)
	}
	var err error
	if c.Stub, err = stub.ByName(l.stub); err != nil {
		return c, fmt.Errorf("%w: --stub: %w", errUsage, err)
	}
	if c.Servers, err = servers(args, c.Transport); err != nil {
		return c, err
	}
	if c.Clients, err = l.networks(); err != nil {
		return c, err
	}
	c.Mix, err = l.mix(in)
	return c, err
}

// servers reads addresses with or without a port.
func servers(args []string, over load.Transport) ([]netip.AddrPort, error) {
	port := uint16(53)
	if over == load.DoT {
		port = 853
	}
	if len(args) > stub.MaxServers {
		return nil, fmt.Errorf("%w: %d servers: at most %d", errUsage, len(args), stub.MaxServers)
	}
	var all []netip.AddrPort
	for _, a := range args {
		if addr, err := netip.ParseAddr(a); err == nil {
			all = append(all, netip.AddrPortFrom(addr, port))
			continue
		}
		at, err := netip.ParseAddrPort(a)
		if err != nil || at.Port() == 0 {
			return nil, fmt.Errorf("%w: server %q: must be an address, such as 192.0.2.1, 192.0.2.1:5300 or [2001:db8::1]:5300", errUsage, a)
		}
		all = append(all, at)
	}
	return all, nil
}

// networks are the clients' own addresses.
func (l *loadFlags) networks() ([]load.Network, error) {
	var own []netip.Addr
	for _, s := range l.sources {
		a, err := netip.ParseAddr(s)
		if err != nil {
			return nil, fmt.Errorf("%w: --source: %q: must be an address of this box", errUsage, s)
		}
		own = append(own, a)
	}
	networks := make([]load.Network, l.clients)
	for i := range networks {
		if len(own) > 0 {
			networks[i].Local = []netip.Addr{own[i%len(own)]}
		}
	}
	return networks, nil
}

// mix is what to ask for; none: the household's.
func (l *loadFlags) mix(in io.Reader) (load.Mix, error) {
	if l.names == "" {
		return nil, nil
	}
	if l.names != "-" {
		f, err := os.Open(l.names)
		if err != nil {
			return nil, fmt.Errorf("failed to read names: %w", err)
		}
		defer f.Close()
		in = f
	}
	m, err := load.ReadMix(in)
	if err != nil {
		return nil, fmt.Errorf("%w: --names: %s: %w", errUsage, l.names, err)
	}
	return m, nil
}

// writer writes the questions to the file that was named. finish ends it.
func (l *loadFlags) writer(out io.Writer) (*load.Writer, func() error, error) {
	if l.csv == "-" {
		w := load.NewWriter(out)
		return w, w.Close, nil
	}
	f, err := os.Create(l.csv)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to write records: %w", err)
	}
	w := load.NewWriter(f)
	return w, func() error { return errors.Join(w.Close(), f.Close()) }, nil
}

// print prints the figures.
func (l *loadFlags) print(out io.Writer, f load.Figures) error {
	if l.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(f)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "asked      %d by %d clients, %d of them hurt\n", f.Asked, f.Clients.Count, f.Clients.Hurt)
	fmt.Fprintf(&b, "lost       %d (%d of them not sent), answered with a failure %d, stalled %d\n", f.Lost, f.Unsent, f.Bad, f.Stalled)
	fmt.Fprintf(&b, "outage     %s felt by the worst client, worst gap %s\n", load.Brief(f.Outage), load.Brief(f.WorstGap))
	fmt.Fprintf(&b, "time       p50 %s, p95 %s, p99 %s, max %s\n", load.Brief(f.P50), load.Brief(f.P95), load.Brief(f.P99), load.Brief(f.Max))
	fmt.Fprintf(&b, "moved      %d needlessly, %d connections reset\n", f.Moved, f.Resets)
	fmt.Fprintf(&b, "nodes      %s\n", shares(f.Nodes))
	fmt.Fprintf(&b, "lateness   p50 %s, p99 %s, max %s: the generator's own\n", load.Brief(f.LateP50), load.Brief(f.LateP99), load.Brief(f.LateMax))
	if f.Void != "" {
		fmt.Fprintf(&b, "VOID       %s\n", f.Void)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// shares are the answers by node; one that does not say who it is has a dash.
func shares(nodes map[string]int) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		out = append(out, fmt.Sprintf("%s %d", cmp.Or(name, "-"), nodes[name]))
	}
	return join(out)
}
