package probe

import (
	"slices"
	"testing"
	"time"
)

// TestVigilOrder proves that the sign seen last goes first and that the others
// keep their order.
func TestVigilOrder(t *testing.T) {
	for first, want := range [][]int{{0, 1, 2, 3}, {1, 0, 2, 3}, {2, 0, 1, 3}, {3, 0, 1, 2}} {
		g := vigil{signs: 4, silence: 3 * time.Second}.saw(first)
		var got []int
		for range want {
			var sign int
			sign, g = g.take(time.Time{}, at(0))
			got = append(got, sign)
		}
		if !slices.Equal(got, want) {
			t.Errorf("with %d first: %v, want %v", first, got, want)
		}
	}
}

// TestVigil proves when signs are asked for, by how long a silence means Dead.
func TestVigil(t *testing.T) {
	tests := []struct {
		name    string
		signs   int
		silence int // milliseconds, as all below
		seen    int // the last sign of life
		dead    bool
		until   int
		want    []int
	}{
		{"one after the other, then the next round", 3, 3000, -1050, false, 1300,
			[]int{0, 100, 200, 1000, 1100, 1200}},
		{"life seen of late is enough for a second", 3, 3000, -300, false, 900, []int{700, 800, 900}},
		{"a short silence holds three rounds", 2, 600, -500, false, 500, []int{0, 66, 200, 266, 400, 466}},
		{"a dead one is asked less often", 2, 3000, -9000, true, 6200, []int{0, 100, 3000, 3100, 6000, 6100}},
		{"one sign", 1, 3000, -2000, false, 2500, []int{0, 1000, 2000}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := vigil{signs: tt.signs, silence: time.Duration(tt.silence) * time.Millisecond}
			var got []int
			for now := 0; now <= tt.until; now++ {
				if at(now).Before(g.next(at(tt.seen), tt.dead)) {
					continue
				}
				_, g = g.take(at(tt.seen), at(now))
				got = append(got, now)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("asked at %v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i]-tt.want[i] > 1 || got[i] < tt.want[i] {
					t.Errorf("asked at %v, want %v", got, tt.want)
				}
			}
		})
	}
}

// TestVigilSeen proves that a sign which was seen ends the round, and that the
// next begins a second after it.
func TestVigilSeen(t *testing.T) {
	g := vigil{signs: 4, silence: 3 * time.Second}
	_, g = g.take(at(-1050), at(0))
	_, g = g.take(at(-1050), at(100))
	if got := g.next(at(101), false); !got.Equal(at(1101)) {
		t.Errorf("next after %v, want 1.101s", got.Sub(epoch))
	}
	sign, g := g.saw(1).take(at(101), at(1101))
	if sign != 1 || g.asked != 1 {
		t.Errorf("sign %d is asked for as number %d of the round", sign, g.asked)
	}
}
