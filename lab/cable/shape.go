package cable

import (
	"fmt"
	"time"
)

// DefaultQueue is how many bytes may be on their way if Shape does not say: a
// tenth of a second at 2.5 Gbit/s.
const DefaultQueue = 32 << 20

// Shape is what a cable does to frames, one way.
type Shape struct {
	Delay  time.Duration // from arrival to departure
	Jitter time.Duration // Delay differs by up to this much; a frame never overtakes another
	Loss   float64       // share of frames that are lost, 0 to 1; of a large TCP segment each frame counts
	Cut    bool          // nothing passes, and what was on its way is gone
	Queue  int           // bytes that may be on their way; 0: DefaultQueue
}

// validate says what is wrong with a shape.
func (s Shape) validate() error {
	switch {
	case s.Delay < 0:
		return fmt.Errorf("delay: %v: must not be negative", s.Delay)
	case s.Jitter < 0 || s.Jitter > s.Delay:
		return fmt.Errorf("jitter: %v: must be between 0 and the delay, %v", s.Jitter, s.Delay)
	case !(s.Loss >= 0 && s.Loss <= 1): // also refuses what is no number
		return fmt.Errorf("loss: %v: must be between 0 and 1", s.Loss)
	case s.Queue < 0:
		return fmt.Errorf("queue: %d: must not be negative", s.Queue)
	}
	return nil
}

// limit is the queue's size in bytes.
func (s Shape) limit() int {
	if s.Queue == 0 {
		return DefaultQueue
	}
	return s.Queue
}
