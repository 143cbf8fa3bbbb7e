// Command recuse-authority serves the lab's zones; the lab starts it inside a
// network namespace of its own.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"recuse/lab/authority"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run parses the flags and serves until a signal ends it.
func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("recuse-authority", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "", "addresses with port, separated by commas")
	nsid := flags.String("nsid", "", "whom it says it is, to those who ask")
	leases := flags.Int("leases", 0, "size of the lease table")
	control := flags.String("control", "", "path of the control socket")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	c := authority.Config{Control: *control, Leases: *leases, NSID: *nsid}
	for s := range strings.SplitSeq(*listen, ",") {
		addr, err := netip.ParseAddrPort(s)
		if err != nil {
			fmt.Fprintf(stderr, "recuse-authority: -listen: %v\n", err)
			return 2
		}
		c.Listen = append(c.Listen, addr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := authority.Run(ctx, c); err != nil {
		fmt.Fprintf(stderr, "recuse-authority: %v\n", err)
		return 1
	}
	return 0
}
