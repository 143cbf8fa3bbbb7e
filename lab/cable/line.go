package cable

import (
	"iter"
	"math/rand/v2"
	"time"
)

// line is one way's delay line. It is told the time and does no I/O.
//
// Frames leave in the order in which they came, also when the delay has been
// shortened meanwhile: a cable does not let one overtake another.
type line struct {
	shape  Shape
	random *rand.Rand
	count  Flow

	waiting []frame // due in this order; the first head of them have left
	head    int
	bytes   int       // sum of the waiting frames
	last    time.Time // when the latest frame is due
}

// frame is what waits in a line.
type frame struct {
	due  time.Time
	data []byte
}

// enter decides what becomes of a frame that arrived at that time. What need not
// wait is passed to now, with the time when it should have left, and is valid as
// long as the frame; of what must wait, a copy does; what the wire takes is gone
// and counted.
func (l *line) enter(arrived, clock time.Time, data []byte, now func(data []byte, due time.Time)) {
	n := frames(data)
	l.count.In += uint64(n)
	switch {
	case l.shape.Cut:
		l.count.Cut += uint64(n)
	case l.shape.Loss == 0:
		l.join(arrived, clock, data, now)
	default:
		for piece := range l.survivors(data, n) {
			l.join(arrived, clock, piece, now)
		}
	}
}

// survivors yields what the loss leaves of a frame. A giant is hit where the n
// frames of the wire are that it stands for, and is left in pieces.
func (l *line) survivors(data []byte, n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var kept, first int // the run of frames under way
		for i := range n + 1 {
			if i < n && l.random.Float64() >= l.shape.Loss {
				kept++
				continue
			}
			if i < n {
				l.count.Lost++
			}
			if kept == n {
				yield(data)
			} else if g, ok := parse(data); ok && kept > 0 && !yield(g.piece(first, kept)) {
				return
			}
			kept, first = 0, i+1
		}
	}
}

// join lets a frame that survived wait, or pass.
func (l *line) join(arrived, clock time.Time, data []byte, now func(data []byte, due time.Time)) {
	due := arrived.Add(l.delay())
	if due.Before(l.last) {
		due = l.last
	}
	if l.empty() && !due.After(clock) {
		l.last = due
		now(data, due)
		return
	}
	if l.bytes+len(data) > l.shape.limit() {
		l.count.Overflowed += uint64(frames(data))
		return
	}
	l.last = due
	l.bytes += len(data)
	l.waiting = append(l.waiting, frame{due, append([]byte(nil), data...)})
}

// delay is the next frame's.
func (l *line) delay() time.Duration {
	d := l.shape.Delay
	if j := l.shape.Jitter; j > 0 {
		d += time.Duration(l.random.Int64N(2*int64(j)+1)) - j
	}
	return d
}

// empty reports whether no frame waits.
func (l *line) empty() bool { return l.head == len(l.waiting) }

// leave takes the first waiting frame if it is due.
func (l *line) leave(clock time.Time) (frame, bool) {
	if l.empty() || l.waiting[l.head].due.After(clock) {
		return frame{}, false
	}
	f := l.waiting[l.head]
	l.waiting[l.head] = frame{}
	l.head++
	l.bytes -= len(f.data)
	l.compact()
	return f, true
}

// compact forgets frames that have left once they are half of the slice, so
// that a line that never empties does not grow.
func (l *line) compact() {
	if l.head < len(l.waiting) && l.head < len(l.waiting)/2+32 {
		return
	}
	n := copy(l.waiting, l.waiting[l.head:])
	clear(l.waiting[n:])
	l.waiting, l.head = l.waiting[:n], 0
}

// next says when the first waiting frame is due.
func (l *line) next() (due time.Time, ok bool) {
	if l.empty() {
		return time.Time{}, false
	}
	return l.waiting[l.head].due, true
}

// set changes the shape. A cut takes what is on its way with it; any other
// change holds for frames that come after it.
func (l *line) set(s Shape) {
	l.shape = s
	if s.Cut {
		l.count.Cut += l.held()
		l.waiting, l.head, l.bytes, l.last = nil, 0, 0, time.Time{}
	}
}

// held is how many frames wait.
func (l *line) held() (n uint64) {
	for _, f := range l.waiting[l.head:] {
		n += uint64(frames(f.data))
	}
	return n
}
