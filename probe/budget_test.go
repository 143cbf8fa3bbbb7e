package probe

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// take asks for a probe and waits for it, then notes when it was granted.
func take(b *Budget, urgent bool, granted *[]time.Duration, start time.Time) {
	<-b.ask(urgent).granted
	*granted = append(*granted, time.Since(start))
}

// TestBudgetSteady proves 15 in any second and 600 in any minute for one that
// asks as fast as it is served.
func TestBudgetSteady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, start := NewBudget(), time.Now()
		var granted []time.Duration
		for range 1300 {
			take(b, false, &granted, start)
		}
		checkSpan(t, granted, BudgetPerSecond, time.Second)
		checkSpan(t, granted, BudgetPerMinute, time.Minute)
		if got := granted[BudgetPerSecond-1]; got != 0 {
			t.Errorf("the first %d were held up by %v", BudgetPerSecond, got)
		}
		if got := granted[BudgetPerMinute]; got != time.Minute {
			t.Errorf("number 601 went after %v, want 1m", got)
		}
	})
}

// TestBudgetUrgent proves that suspicion that lasts never waits for more than
// about a second and leaves something of the minute to the others.
func TestBudgetUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, start := NewBudget(), time.Now()
		var granted []time.Duration
		for range 1000 {
			take(b, true, &granted, start)
			time.Sleep(50 * time.Millisecond)
		}
		checkSpan(t, granted, BudgetPerSecond, time.Second)
		checkSpan(t, granted, BudgetPerMinute*9/10, time.Minute)
		for i := range granted[1:] {
			if gap := granted[i+1] - granted[i]; gap > time.Second {
				t.Fatalf("a wait of %v at %v", gap, granted[i])
			}
		}
	})
}

// checkSpan fails if any span of time holds more than n grants.
func checkSpan(t *testing.T, granted []time.Duration, n int, span time.Duration) {
	t.Helper()
	for i := n; i < len(granted); i++ {
		if got := granted[i] - granted[i-n]; got < span {
			t.Fatalf("%d within %v at %v, at most %d within %v are allowed", n+1, got, granted[i], n, span)
		}
	}
}

// order collects in which order named tickets are granted.
type order struct {
	names []string
	done  chan string
}

// watch notes the ticket's name once it is granted.
func (o *order) watch(name string, t *ticket) {
	go func() {
		<-t.granted
		o.done <- name
	}()
}

// spend uses the second's share up.
func spend(b *Budget) {
	for range BudgetPerSecond {
		<-b.ask(false).granted
		time.Sleep(time.Millisecond)
	}
}

// TestBudgetPriority proves that suspicion goes first, also one that starts
// while its probe waits already, and that first come is first served.
func TestBudgetPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget()
		spend(b)
		o := order{done: make(chan string, 10)}
		o.watch("steady 1", b.ask(false))
		o.watch("steady 2", b.ask(false))
		hurried := b.ask(false)
		o.watch("hurried", hurried)
		left := b.ask(true)
		o.watch("urgent", b.ask(true))
		b.hurry(hurried)
		b.cancel(left)
		for range 4 {
			o.names = append(o.names, <-o.done)
		}
		want := []string{"hurried", "urgent", "steady 1", "steady 2"}
		if !slices.Equal(o.names, want) {
			t.Errorf("got %q, want %q", o.names, want)
		}
		if len(left.granted) != 0 {
			t.Error("a cancelled ticket was granted")
		}
	})
}

// TestBudgetSteadyBesideUrgent proves that a suspicion that lasts does not shut
// the others out.
func TestBudgetSteadyBesideUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, start := NewBudget(), time.Now()
		var urgent, steady []time.Duration
		stop, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			for {
				select {
				case <-stop:
					return
				default:
					take(b, true, &urgent, start)
				}
			}
		}()
		for range 60 {
			take(b, false, &steady, start)
			time.Sleep(time.Second)
		}
		close(stop)
		<-ended
		for i := range steady[1:] {
			if gap := steady[i+1] - steady[i]; gap > 2*time.Second {
				t.Errorf("a steady one waited %v at %v", gap, steady[i])
			}
		}
		all := slices.Concat(urgent, steady)
		slices.Sort(all)
		checkSpan(t, all, BudgetPerSecond, time.Second)
		checkSpan(t, all, BudgetPerMinute, time.Minute)
	})
}

// TestBudgetSpare proves that a question for a sign of life goes after every
// probe that waits, also one that came later, and leaves room for the next.
func TestBudgetSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget()
		spend(b)
		o := order{done: make(chan string, 10)}
		o.watch("spare", b.askSpare())
		o.watch("steady", b.ask(false))
		o.watch("urgent", b.ask(true))
		for _, want := range []string{"urgent", "steady", "spare"} {
			if got := <-o.done; got != want {
				t.Errorf("%q went, want %q", got, want)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b, begin := NewBudget(), time.Now()
		for range sparePerSecond {
			<-b.askSpare().granted
		}
		late := b.askSpare()
		for range BudgetPerSecond - sparePerSecond {
			<-b.ask(false).granted
		}
		if got := time.Since(begin); got != 0 {
			t.Errorf("the probes waited for %v", got)
		}
		<-late.granted
		if got := time.Since(begin); got != time.Second {
			t.Errorf("the last sign waited for %v, want 1s", got)
		}
	})
}
