package bfd_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"recuse/bgp/bfd"
)

// A client watches its router and tells it when it leaves.
func Example() {
	var lastDecision time.Time // guarded, in earnest
	engine := bfd.New(bfd.Options{
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		// A packet is a promise: no more of them when nobody decides any more.
		Alive: func() bool { return time.Since(lastDecision) < 3*time.Second },
	})
	session, err := engine.Add(bfd.Config{
		Peer:          netip.MustParseAddr("192.0.2.1"),
		DesiredMinTx:  100 * time.Millisecond,
		RequiredMinRx: 100 * time.Millisecond,
		Multiplier:    3,
	}, func(e bfd.Event) {
		if e.From == bfd.Up && e.Reason != bfd.ReasonPeerAdminDown {
			fmt.Println("the router has gone:", e.Reason)
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if why := session.Status().Trouble(); why != "" {
		fmt.Println("not up:", why)
	}

	// The router learns that this is no failure.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := engine.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
}
