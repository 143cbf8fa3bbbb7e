package catchment

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"recuse/probe/dnsx"
)

const (
	// scouts is how many flows find out which inquiries tell anything.
	scouts = 10
	// repeats is how many flows are asked twice. If packets were balanced one by
	// one over two even nodes, one survey in a million would not see it.
	repeats = 20
	// inFlight bounds the flows that are open at a time, and so the sockets.
	inFlight = 200
)

// Config says whom to ask, how, and how much.
type Config struct {
	// Server is asked, over UDP or TCP.
	Server dnsx.Server
	// Source is the source address; zero leaves it to the kernel.
	Source netip.Addr
	// Inquiries are tried in this order.
	Inquiries []dnsx.Inquiry
	// Flows is how many source ports ask.
	Flows int
	// Rate is how many questions leave in a second, and ChaosRate how many of
	// class CH over UDP.
	Rate, ChaosRate int
	// Timeout bounds the wait for each answer.
	Timeout time.Duration
}

// Span is about how long a survey takes if the answers come at once and an
// inquiry tells every node.
func (c Config) Span(by dnsx.Inquiry) time.Duration {
	gap := gapOf(c.Rate)
	if c.slowly(by) {
		gap = max(gap, gapOf(c.ChaosRate))
	}
	return time.Duration(c.Flows+c.repeated()) * gap
}

// gapOf is the time between two questions, rounded up: the rate is a limit.
func gapOf(rate int) time.Duration {
	n := time.Duration(rate)
	return (time.Second + n - 1) / n
}

// slowly tells whether the rate of class CH holds for an inquiry.
func (c Config) slowly(by dnsx.Inquiry) bool { return by.Chaos() && c.Server.Net != "tcp" }

// repeated is how many flows are to be asked twice. A TCP connection that two
// nodes see breaks by itself.
func (c Config) repeated() int {
	if c.Server.Net == "tcp" {
		return 0
	}
	return min(repeats, c.Flows)
}

// survey is one run.
type survey struct {
	Config
	open  func() flow
	order []dnsx.Inquiry

	pace, chaos pace

	mu      sync.Mutex
	samples []sample
}

// Run asks, and ends early when ctx does, or when the first flows show that
// nothing will come of it.
func Run(ctx context.Context, c Config) Report {
	return c.run(ctx, func() flow { return dnsx.NewFlow(c.Server, c.Source) })
}

// run is Run over whatever flows open makes.
func (c Config) run(ctx context.Context, open func() flow) Report {
	s := &survey{Config: c, open: open, order: c.Inquiries,
		pace: pace{gap: gapOf(c.Rate)}, chaos: pace{gap: gapOf(c.ChaosRate)}}
	s.ask(ctx, 0, min(scouts, c.Flows))
	end := futile(s.samples)
	if end == "" {
		s.order = preferred(c.Inquiries, s.samples)
		s.ask(ctx, min(scouts, c.Flows), c.Flows)
	}
	if ctx.Err() != nil {
		end = Interrupted
	}
	return newReport(c, s.samples, end)
}

// ask makes the flows of the numbers from up to below to.
func (s *survey) ask(ctx context.Context, from, to int) {
	var all sync.WaitGroup
	defer all.Wait()
	free := make(chan struct{}, inFlight)
	for n := from; n < to; n++ {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if s.turn(ctx, s.order[0]) != nil {
			return
		}
		all.Go(func() {
			defer func() { <-free }()
			s.add(ctx, s.flow(ctx, n < s.repeated()))
		})
	}
}

// add keeps a sample, unless it is one that an interruption cut short.
func (s *survey) add(ctx context.Context, x sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil || x.node != "" {
		s.samples = append(s.samples, x)
	}
}

// preferred returns the inquiries, those that told a node first.
func preferred(all []dnsx.Inquiry, samples []sample) []dnsx.Inquiry {
	var told, rest []dnsx.Inquiry
	for _, i := range all {
		if slices.ContainsFunc(samples, func(x sample) bool { return x.node != "" && x.by == i }) {
			told = append(told, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(told, rest...)
}
