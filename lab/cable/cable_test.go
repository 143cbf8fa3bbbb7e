package cable

import (
	"testing"
)

func TestPing(t *testing.T) {
	b := wired(t)
	for _, to := range []string{rightIP, rightIP6} {
		r := b.newPinger(t, to).rtts(t, 100)
		t.Log(r[0], r[50], r[99], b.Counters())
		ab, ba := b.Lateness()
		t.Log(ab, ba)
	}
	b.Shape(Shape{Delay: 100e6})
	b.ForgetLateness()
	r := b.newPinger(t, rightIP).rtts(t, 10)
	t.Log(r[0], r[5], r[9], b.Counters())
	ab, ba := b.Lateness()
	t.Log(ab, ba)
}
