package load

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"recuse/lab/load/stub"
)

// TestManyAtOnce has more generators at once than the box has cores. Each waits
// in the kernel behind the back of Go's scheduler, and the rest of the process
// gets its turn all the same.
func TestManyAtOnce(t *testing.T) {
	s := serve(t, well("n1"))
	var runs sync.WaitGroup
	ended := make(chan struct{})
	many := runtime.NumCPU() + 3
	for range many {
		runs.Go(func() {
			c := Config{Servers: one(s.plain), Stub: stub.None(time.Second), Rate: 20, Duration: 2 * time.Second, Mix: lan}
			if _, err := Run(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	go func() {
		runs.Wait()
		close(ended)
	}()
	for s.questions() < many { // until all are under way
		runtime.Gosched()
	}
	const enough = 100_000 // of some millions; a starved process does 15,000
	if n := turns(ended, enough); n < enough {
		t.Errorf("two goroutines took turns %d times while the generators waited, want %d", n, enough)
	}
	<-ended
}

// questions is how many the server has seen.
func (s *server) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// turns counts how often two goroutines hand over to each other until ended, at
// most so often.
func turns(ended <-chan struct{}, most int) int {
	there := make(chan struct{})
	quit := make(chan struct{})
	defer close(quit)
	go func() {
		for {
			select {
			case there <- struct{}{}:
			case <-quit:
				return
			}
		}
	}()
	for n := range most {
		select {
		case <-there:
		case <-ended:
			return n
		}
	}
	return most
}
