package load

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTimers shows that the heap gives up lookups by their deadlines, whatever
// is set again or taken out in between.
func TestTimers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &loop{}
		l.timers.loop = l
		model := map[int32]int{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			slot := rapid.Int32Range(0, 30).Draw(t, "slot")
			for int(slot) >= len(l.pages)*pageSize {
				l.slot()
			}
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0, 1:
				d := rapid.IntRange(0, 50).Draw(t, "deadline")
				model[slot] = d
				l.at(slot).deadline = time.Duration(d)
				l.timers.set(slot)
			default:
				delete(model, slot)
				l.timers.remove(slot)
			}
			least := -1
			for _, d := range model {
				if least < 0 || d < least {
					least = d
				}
			}
			if len(l.timers.heap) != len(model) {
				t.Fatalf("%d timers, want %d", len(l.timers.heap), len(model))
			}
			if len(model) > 0 && l.at(l.timers.heap[0]).deadline != time.Duration(least) {
				t.Fatalf("first is %d, want %d", l.at(l.timers.heap[0]).deadline, least)
			}
		}
	})
}
