package cable

import (
	"math/rand/v2"
	"sync"
	"time"
)

// batch is how many frames are read or sent in one system call.
const batch = 32

// source is the end of a cable that frames come from.
type source interface {
	// receive waits for frames and returns those that are there, at most batch.
	// They are valid until the next call. An error is the end.
	receive() ([]arrival, error)
	// dropped says how many frames were lost before receive since the last call.
	dropped() uint64
}

// sink is the end of a cable that frames go to.
type sink interface {
	// send sends the frames, at most batch, without waiting, and returns how many
	// frames of the wire the kernel refused.
	send(frames [][]byte) (refused int)
}

// alarm wakes the writer.
type alarm interface {
	set(d time.Duration) // rings after d; an earlier setting is void
	wait() error         // until it rings; an error is the end
}

// arrival is a frame that came in.
type arrival struct {
	at   time.Time
	data []byte
}

// way carries frames from one end to the other.
type way struct {
	from  source
	to    sink
	alarm alarm

	mu   sync.Mutex
	line line
	late histogram

	// Scratch of whoever holds mu.
	out  [][]byte
	due  []time.Time // of the frames in out
	pass func(data []byte, due time.Time)
}

// newWay makes a way that does nothing to frames.
func newWay(from source, to sink, ring alarm) *way {
	w := &way{from: from, to: to, alarm: ring}
	w.line.random = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	w.pass = w.load
	return w
}

// read takes frames in until the source ends.
func (w *way) read() {
	for {
		arrivals, err := w.from.receive()
		if err != nil {
			return
		}
		w.take(arrivals)
	}
}

// take lets frames enter the line, and sends those that need not wait.
func (w *way) take(arrivals []arrival) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slept := w.line.empty()
	clock := time.Now()
	for _, a := range arrivals {
		w.line.enter(a.at, clock, a.data, w.pass)
	}
	w.send()
	if slept {
		w.wake()
	}
}

// write sends waiting frames as they become due, until the alarm ends.
func (w *way) write() {
	for w.alarm.wait() == nil {
		w.release()
	}
}

// release sends what is due and sets the alarm for what is next.
func (w *way) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		f, ok := w.line.leave(time.Now())
		if !ok {
			break
		}
		w.load(f.data, f.due)
	}
	w.send()
	w.wake()
}

// wake sets the alarm for the first waiting frame. The caller holds mu.
func (w *way) wake() {
	if due, ok := w.line.next(); ok {
		w.alarm.set(time.Until(due))
	}
}

// load puts a frame into the next packet of calls. The caller holds mu.
func (w *way) load(data []byte, due time.Time) {
	w.out, w.due = append(w.out, data), append(w.due, due)
	if len(w.out) == batch {
		w.send()
	}
}

// send sends what was loaded and notes how late that was. The caller holds mu.
func (w *way) send() {
	if len(w.out) == 0 {
		return
	}
	refused, n := w.to.send(w.out), 0
	clock := time.Now()
	for i, due := range w.due {
		w.late.add(clock.Sub(due))
		n += frames(w.out[i])
	}
	w.line.count.Failed += uint64(refused)
	w.line.count.Out += uint64(n - refused)
	clear(w.out)
	w.out, w.due = w.out[:0], w.due[:0]
}

// shape changes what the way does from now on.
func (w *way) shape(s Shape) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line.set(s)
}

// flow is the way's counters.
func (w *way) flow() Flow {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.from.dropped()
	w.line.count.In += n
	w.line.count.Overflowed += n
	f := w.line.count
	f.Waiting = w.line.held()
	return f
}

// lateness sums up how late frames left, and forgets it if told so.
func (w *way) lateness(forget bool) Lateness {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.late.summary()
	if forget {
		w.late = histogram{}
	}
	return l
}
