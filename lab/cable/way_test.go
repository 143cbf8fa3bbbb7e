package cable

import (
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bubble is a way between channels, with the bubble's time.
type bubble struct {
	*way
	in     chan []arrival
	mu     sync.Mutex // over got
	got    []sent
	refuse bool
	timer  *time.Timer
	quit   chan struct{}
}

// sent is what came out, and when after the start.
type sent struct {
	At   time.Duration
	Data string
}

// receive, dropped, send, set and wait make a bubble a way's source, sink and
// alarm.
func (b *bubble) receive() ([]arrival, error) {
	a, ok := <-b.in
	if !ok {
		return nil, io.EOF
	}
	return a, nil
}
func (b *bubble) dropped() uint64 { return 0 }
func (b *bubble) send(frames [][]byte) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse {
		return len(frames)
	}
	for _, f := range frames {
		b.got = append(b.got, sent{time.Since(epochOfBubble), string(f)})
	}
	return 0
}
func (b *bubble) set(d time.Duration) { b.timer.Reset(max(d, 0)) }
func (b *bubble) wait() error {
	select {
	case <-b.timer.C:
		return nil
	case <-b.quit:
		return io.EOF
	}
}

// epochOfBubble is when every bubble begins (testing/synctest).
var epochOfBubble = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// inBubble runs f with a way that ends after it.
func inBubble(t *testing.T, f func(b *bubble)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{in: make(chan []arrival), timer: time.NewTimer(time.Hour), quit: make(chan struct{})}
		b.way = newWay(b, b, b)
		var running sync.WaitGroup
		running.Go(b.read)
		running.Go(b.write)
		f(b)
		close(b.in)
		close(b.quit)
		running.Wait()
	})
}

// give lets frames arrive now, and returns when they have been taken.
func (b *bubble) give(frames ...string) {
	var a []arrival
	for _, f := range frames {
		a = append(a, arrival{time.Now(), []byte(f)})
	}
	b.in <- a
	synctest.Wait()
}

// want compares all that has come out.
func (b *bubble) want(t *testing.T, want ...sent) {
	t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if diff := cmp.Diff(want, b.got); diff != "" {
		t.Errorf("unexpected frames (-want +got):\n%s", diff)
	}
}

// ms is so many milliseconds.
func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func TestWayDelays(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.give("a", "b")
		b.shape(Shape{Delay: ms(100)})
		b.give("c")
		time.Sleep(ms(40))
		b.give("d")
		b.want(t, sent{0, "a"}, sent{0, "b"})
		time.Sleep(ms(200))
		b.want(t, sent{0, "a"}, sent{0, "b"}, sent{ms(100), "c"}, sent{ms(140), "d"})
		if got := b.lateness(false); got != (Lateness{Frames: 4}) {
			t.Errorf("late as %+v in a time that stands still", got)
		}
	})
}

// TestWayShortened shows that a shorter delay lets nothing overtake, and that
// what comes later has the new delay.
func TestWayShortened(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.shape(Shape{Delay: ms(100)})
		b.give("a")
		b.shape(Shape{})
		time.Sleep(ms(10))
		b.give("b")
		time.Sleep(ms(100))
		b.give("c")
		b.want(t, sent{ms(100), "a"}, sent{ms(100), "b"}, sent{ms(110), "c"})
	})
}

func TestWayCut(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.shape(Shape{Delay: ms(100)})
		b.give("on its way")
		time.Sleep(ms(50))
		b.shape(Shape{Delay: ms(100), Cut: true})
		b.give("while cut")
		time.Sleep(ms(300))
		b.want(t)
		b.shape(Shape{Delay: ms(100)})
		b.give("joined")
		time.Sleep(ms(300))
		b.want(t, sent{ms(450), "joined"})
		if diff := cmp.Diff(Flow{In: 3, Out: 1, Cut: 2}, b.flow()); diff != "" {
			t.Errorf("unexpected counters (-want +got):\n%s", diff)
		}
	})
}

// TestWayLate reads frames that arrived a while ago: the delay has begun, and
// only what is over is lateness.
func TestWayLate(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.shape(Shape{Delay: ms(10)})
		time.Sleep(ms(100))
		b.in <- []arrival{{time.Now().Add(-ms(13)), []byte("late")}, {time.Now().Add(-ms(4)), []byte("in time")}}
		time.Sleep(ms(100))
		b.want(t, sent{ms(100), "late"}, sent{ms(106), "in time"})
		got := b.lateness(true)
		if got.Frames != 2 || got.Worst != ms(3) {
			t.Errorf("late as %+v", got)
		}
		if got := b.lateness(false); got != (Lateness{}) {
			t.Errorf("what was forgotten is %+v", got)
		}
	})
}

// TestWayManyAtOnce gives more frames than one call takes, also to wait.
func TestWayManyAtOnce(t *testing.T) {
	inBubble(t, func(b *bubble) {
		frames := make([]string, 3*batch+1)
		for i := range frames {
			frames[i] = string(rune('a' + i))
		}
		var want []sent
		for i, delay := range []int{0, 20} {
			b.shape(Shape{Delay: ms(delay)})
			b.give(frames...)
			for _, f := range frames {
				want = append(want, sent{ms(20 * i), f})
			}
			time.Sleep(ms(delay))
		}
		b.want(t, want...)
	})
}

func TestWayRefused(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.refuse = true
		b.give("a", "b")
		b.want(t)
		if diff := cmp.Diff(Flow{In: 2, Failed: 2}, b.flow()); diff != "" {
			t.Errorf("unexpected counters (-want +got):\n%s", diff)
		}
	})
}
