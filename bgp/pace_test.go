package bgp

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPace(t *testing.T) {
	const retry = 2 * time.Second
	type step struct {
		end  ending
		up   time.Duration
		want time.Duration
	}
	long := time.Minute
	tests := []struct {
		name  string
		steps []step
	}{
		{"a router that went away is asked eagerly, then every retry", append(
			slices.Repeat([]step{{endUnreached, 0, retry / 2}}, eagerDials),
			step{endUnreached, 0, retry}, step{endUnreached, 0, retry},
			step{endSilent, 0, retry}, step{endUnreached, 0, retry / 2})},
		{"a refusal grows, up to a bound", []step{
			{endRefused, 0, 1 * time.Second}, {endRefused, 0, 2 * time.Second}, {endRefused, 0, 4 * time.Second},
			{endRefused, 0, 8 * time.Second}, {endRefused, 0, 16 * time.Second}, {endRefused, 0, 30 * time.Second},
			{endRefused, 0, 30 * time.Second}}},
		{"a router that restarts in between starts no new count", []step{
			{endRefused, 0, 1 * time.Second}, {endUnreached, 0, retry / 2}, {endRefused, 0, 2 * time.Second}}},
		{"a stable session that is lost is dialed at once", []step{{endLost, long, quickRetry}}},
		{"one that never lasts is not", []step{{endLost, time.Second, retry}, {endLost, time.Second, retry}}},
		{"errors in messages grow too", []step{
			{endBroken, time.Second, 1 * time.Second}, {endBroken, time.Second, 2 * time.Second}}},
		{"unless the session had worked", []step{
			{endBroken, long, 1 * time.Second}, {endBroken, long, 1 * time.Second}}},
		{"a cease ends the count", []step{
			{endRefused, 0, 1 * time.Second}, {endCease, long, retry}, {endRefused, 0, 1 * time.Second}}},
		{"silence is asked every retry", []step{{endSilent, 0, retry}, {endSilent, 0, retry}}},
		{"BFD made anew by the router is no refusal", []step{{endBFD, time.Millisecond, quickRetry}, {endBFD, long, quickRetry}}},
		{"BFD that flaps is", []step{{endBFD, 0, quickRetry}, {endBFD, 0, 2 * quickRetry}, {endBFD, 0, 4 * quickRetry},
			{endBFD, 0, retry}, {endBFD, 0, retry}, {endBFD, long, quickRetry}}},
		{"the fuse parks", []step{{endLimit, long, 30 * time.Second}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p pace
			for i, s := range tt.steps {
				var got time.Duration
				if p, got = p.next(s.end, s.up, retry, 0); got != s.want {
					t.Errorf("step %d: wait %v, want %v", i, got, s.want)
				}
			}
		})
	}
}

// Whatever happens, a wait is neither negative nor longer than the bound, and
// the random part takes away no more than a quarter.
func TestPaceBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pace
		retry := time.Duration(rapid.Int64Range(0, int64(30*time.Second)).Draw(t, "retry"))
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			end := ending(rapid.IntRange(0, int(endLost)).Draw(t, "ending"))
			up := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "up"))
			_, most := p.next(end, up, retry, 0)
			next, wait := p.next(end, up, retry, rapid.Float64Range(0, 0.999).Draw(t, "spread"))
			if wait < most*3/4-1 || wait > most || most > maxBackoff {
				t.Fatalf("wait %v of at most %v", wait, most)
			}
			p = next
		}
	})
}
