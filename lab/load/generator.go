package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Ask puts one question and returns when it has ended, at the latest after its
// own timeout. It may be called by many goroutines at once.
type Ask func(Question) Answer

// Config is one run.
type Config struct {
	Rate     float64       // questions a second
	Duration time.Duration // how long questions are sent; 0: until the context ends
	Mix      Mix           // Household if empty
	Ask      Ask
	Record   func(Record) // if set, is told each record as it ends, one at a time
}

// check refuses a run that cannot be.
func (c Config) check() error {
	if c.Rate <= 0 {
		return fmt.Errorf("rate %v: must be more than 0 a second", c.Rate)
	}
	if c.Ask == nil {
		return errors.New("ask: nobody to ask")
	}
	return nil
}

// Run sends questions until the duration is over or ctx ends, waits for the end
// of those under way, and returns all records in the order of intended times.
// The end of ctx is no error: what was sent is counted.
func Run(ctx context.Context, c Config) ([]Record, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("failed to run load: %w", err)
	}
	if len(c.Mix) == 0 {
		c.Mix = Household()
	}
	r := run{config: c, start: time.Now()}
	for i := 0; r.wait(ctx, i); i++ {
		q := Question{Name: c.Mix.name(i), Type: dns.TypeA}
		r.begin(i, q)
	}
	r.underWay.Wait()
	return r.records, nil
}

// run is the state of one run.
type run struct {
	config   Config
	start    time.Time
	underWay sync.WaitGroup

	mu      sync.Mutex // guards records and serialises Record
	records []Record
}

// intended is when question i is due. It is computed from the start each time,
// so that no rounding adds up.
func (r *run) intended(i int) time.Time {
	return r.start.Add(time.Duration(float64(i) / r.config.Rate * float64(time.Second)))
}

// wait waits until question i is due; false if it is not to be asked any more.
func (r *run) wait(ctx context.Context, i int) bool {
	at := r.intended(i)
	if d := r.config.Duration; d > 0 && at.Sub(r.start) >= d {
		return false
	}
	d := time.Until(at)
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// begin puts question i without waiting for its end.
func (r *run) begin(i int, q Question) {
	r.mu.Lock()
	r.records = append(r.records, Record{})
	r.mu.Unlock()
	r.underWay.Go(func() {
		rec := Record{Seq: i, Intended: r.intended(i), Question: q, Answer: r.config.Ask(q)}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.records[i] = rec
		if r.config.Record != nil {
			r.config.Record(rec)
		}
	})
}
