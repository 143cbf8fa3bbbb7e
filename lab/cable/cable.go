package cable

import (
	"errors"
	"fmt"
	"sync"

	"recuse/lab/urgent"
)

// Flow counts the frames of one way, as a wire would see them: a large segment
// of TCP or UDP counts as the frames that it stands for. In is the sum of the
// others.
type Flow struct {
	In, Out    uint64
	Lost       uint64 // by Shape.Loss
	Cut        uint64 // came to a cut cable, or were on their way when it was cut
	Overflowed uint64 // found no room in the queue or in the socket
	Failed     uint64 // refused by the far interface: down, gone, frame too long
	Waiting    uint64 // on their way
}

// Counters are the counters of both ways.
type Counters struct{ AB, BA Flow }

// Cable joins two interfaces.
type Cable struct {
	ab, ba  *way
	closers []func() error
	running sync.WaitGroup
	calm    func()
	close   func() error
}

// New joins the interfaces a and b of the namespace in which do runs what it is
// given. It takes both over: they must be up, with one MTU, and have no
// addresses; New turns IPv6 off on them, so that they say nothing of their own.
// The cable has no delay and no loss. It needs CAP_NET_RAW and CAP_NET_ADMIN, and
// with CAP_SYS_NICE the process is urgent until Close (lab/urgent), since on a
// busy box a wire must not wait for its turn.
func New(do func(func() error) error, a, b string) (*Cable, error) {
	c := &Cable{calm: func() {}}
	c.close = sync.OnceValue(c.end)
	if err := c.open(do, a, b); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to join %s and %s: %w", a, b, err), c.Close())
	}
	c.calm = urgent.Begin()
	for _, w := range []*way{c.ab, c.ba} {
		c.running.Go(w.read)
		c.running.Go(w.write)
	}
	return c, nil
}

// open opens the ends and the alarms.
func (c *Cable) open(do func(func() error) error, a, b string) error {
	var ends [2]*end
	err := do(func() (err error) {
		for i, name := range []string{a, b} {
			if ends[i], err = newEnd(name); err != nil {
				return err
			}
			c.closers = append(c.closers, ends[i].close)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if ends[0].mtu != ends[1].mtu {
		return fmt.Errorf("MTU of %s is %d, of %s %d: must be one", a, ends[0].mtu, b, ends[1].mtu)
	}
	for i, w := range []**way{&c.ab, &c.ba} {
		ring, err := newTimer()
		if err != nil {
			return err
		}
		c.closers = append(c.closers, ring.close)
		*w = newWay(ends[i], ends[1-i], ring)
	}
	return nil
}

// Shape sets what the cable does, the same both ways. It holds for every frame
// that comes in after Shape has returned; after a cut nothing comes out any
// more.
func (c *Cable) Shape(s Shape) error { return c.ShapeWays(s, s) }

// ShapeWays is Shape with a shape for the way from a to b and one for the way
// back.
func (c *Cable) ShapeWays(ab, ba Shape) error {
	if err := errors.Join(ab.validate(), ba.validate()); err != nil {
		return fmt.Errorf("failed to shape cable: %w", err)
	}
	c.ab.shape(ab)
	c.ba.shape(ba)
	return nil
}

// Counters are the counters since New.
func (c *Cable) Counters() Counters { return Counters{c.ab.flow(), c.ba.flow()} }

// Lateness is the cable's own, each way: how much later than due frames left,
// since New or ForgetLateness. On an unshaped cable a frame is due when it
// arrives.
func (c *Cable) Lateness() (ab, ba Lateness) { return c.ab.lateness(false), c.ba.lateness(false) }

// ForgetLateness begins a new measurement.
func (c *Cable) ForgetLateness() {
	c.ab.lateness(true)
	c.ba.lateness(true)
}

// Close takes the cable away: nothing passes any more, the goroutines end, the
// sockets close. The interfaces stay. A second call returns what the first did.
func (c *Cable) Close() error { return c.close() }

// end closes what was opened and waits for the goroutines.
func (c *Cable) end() error {
	var errs []error
	for _, f := range c.closers {
		errs = append(errs, f())
	}
	c.running.Wait()
	c.calm()
	return errors.Join(errs...)
}
