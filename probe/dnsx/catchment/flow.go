package catchment

import (
	"context"

	"recuse/probe"
	"recuse/probe/dnsx"
)

// flow is one source port.
type flow interface {
	Ask(ctx context.Context, i dnsx.Inquiry) dnsx.Answer
	Close()
}

// flow asks over one source port, the node that answered once more if twice is
// set.
func (s *survey) flow(ctx context.Context, twice bool) sample {
	f := s.open()
	defer f.Close()
	got := s.identify(ctx, f)
	if got.node != "" && twice && s.turn(ctx, got.by) == nil {
		got.second = s.question(ctx, f, got.by).Node
	}
	return got
}

// identify asks in one way after the other until the node is known. If there is
// no answer to the first it asks no more: a node that lost one question must
// not become known by another name than before.
func (s *survey) identify(ctx context.Context, f flow) sample {
	var got sample
	for i, by := range s.order {
		if i > 0 && s.turn(ctx, by) != nil {
			return got
		}
		a := s.question(ctx, f, by)
		switch {
		case a.Node != "":
			return sample{answered: true, node: a.Node, by: by, took: a.RTT()}
		case i == 0 && a.Cause != probe.Passed:
			return sample{why: a.Outcome, silent: a.Cause == probe.Silent}
		case i == 0:
			got = sample{answered: true, why: by.String() + ": " + a.Outcome}
		default:
			got.why += ", " + by.String() + ": " + a.Outcome
		}
	}
	return got
}

// turn waits until a question may leave. What waits for its turn in class CH
// leaves right then, or the gaps between those would shrink.
func (s *survey) turn(ctx context.Context, by dnsx.Inquiry) error {
	if err := s.pace.wait(ctx); err != nil || !s.slowly(by) {
		return err
	}
	return s.chaos.wait(ctx)
}

// question asks once.
func (s *survey) question(ctx context.Context, f flow, by dnsx.Inquiry) dnsx.Answer {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	return f.Ask(ctx, by)
}
