package load

import (
	"sync/atomic"
	"time"
)

// result is what is kept of a question that ended, until it becomes a Record. It
// holds no pointer.
type result struct {
	seq           int64
	random        uint64
	sent, ended   time.Duration
	client, entry int32
	state         state
	server        uint8
	rcode, node   uint16
	port, err     uint16
	attempts      uint16
	resets        uint16
	via           carrier
}

// What is handed from the loop to the collector at a time, and how long it may
// be kept back.
const (
	batchSize = 1024
	batchTime = 20 * time.Millisecond
)

// collector makes records of results on a goroutine of its own, so that making
// strings, and whoever is told of them, holds up no question. What it has not
// got to yet waits in memory.
type collector struct {
	config Config
	mix    []template
	start  time.Time // without a monotonic reading
	names  *names

	servers []string // their addresses

	batch   *batch // the loop's
	flushed time.Duration

	full    stack         // batches for the collector, the newest first
	empty   stack         // batches for the loop
	closed  atomic.Bool   // there are no more
	ready   chan struct{} // capacity 1: look
	records []Record
	done    chan struct{}
}

// batch is what is handed over at a time.
type batch struct {
	next    *batch
	results []result
}

// stack holds batches. It is without a lock, for the loop must not wait for a
// thread that holds one and that the kernel has put aside.
type stack struct{ top atomic.Pointer[batch] }

// push puts a batch on top.
func (s *stack) push(b *batch) {
	for {
		b.next = s.top.Load()
		if s.top.CompareAndSwap(b.next, b) {
			return
		}
	}
}

// takeAll takes all batches, the newest first.
func (s *stack) takeAll() *batch { return s.top.Swap(nil) }

// newCollector starts the goroutine. It ends after end.
func newCollector(c Config, mix []template, start time.Time, n *names) *collector {
	k := &collector{config: c, mix: mix, start: start.Round(0).UTC(), names: n,
		ready: make(chan struct{}, 1), done: make(chan struct{})}
	for _, s := range c.Servers {
		k.servers = append(k.servers, s.Addr().String())
	}
	k.batch = k.fresh()
	go k.collect()
	return k
}

// add takes one lookup that ended, with what came of one server.
func (c *collector) add(k *lookup, from int, now time.Duration) {
	t := &k.talks[from]
	r := result{seq: k.seq, random: k.random, sent: k.sent, ended: now, client: k.client, entry: k.entry,
		state: t.state, server: uint8(from), port: t.port, via: t.via,
		attempts: k.attempts, resets: k.resets}
	switch t.state {
	case answered:
		r.rcode, r.node = t.rcode, t.node
	case refused, broken, unsent:
		r.err = t.err
	}
	c.batch.results = append(c.batch.results, r)
	if len(c.batch.results) == batchSize {
		c.hand()
	}
}

// flush hands over what has been kept back for long enough.
func (c *collector) flush(now time.Duration) {
	if now-c.flushed >= batchTime {
		c.flushed = now
		if len(c.batch.results) > 0 {
			c.hand()
		}
	}
}

// end hands over the rest and tells that there is no more.
func (c *collector) end() {
	c.full.push(c.batch)
	c.closed.Store(true)
	c.look()
}

// hand hands the batch over.
func (c *collector) hand() {
	c.full.push(c.batch)
	c.batch = c.fresh()
	c.look()
}

// fresh is an empty batch, used before if there is one.
func (c *collector) fresh() *batch {
	b := c.empty.takeAll()
	if b == nil {
		return &batch{results: make([]result, 0, batchSize)}
	}
	for rest := b.next; rest != nil; {
		next := rest.next
		c.empty.push(rest)
		rest = next
	}
	b.results = b.results[:0]
	return b
}

// look wakes the collector.
func (c *collector) look() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// collect makes the records.
func (c *collector) collect() {
	defer close(c.done)
	for range c.ready {
		closed := c.closed.Load() // before the look: what was pushed before is seen
		var oldest *batch
		for b := c.full.takeAll(); b != nil; {
			next := b.next
			b.next, oldest = oldest, b
			b = next
		}
		for b := oldest; b != nil; {
			next := b.next
			for i := range b.results {
				c.record(&b.results[i])
			}
			c.empty.push(b)
			b = next
		}
		if closed {
			return
		}
	}
}

// record makes one record and tells it.
func (c *collector) record(r *result) {
	e := c.mix[r.entry].entry
	rec := Record{Seq: int(r.seq), Client: int(r.client),
		Intended: c.start.Add(intended(r.seq, c.config.Rate)),
		Question: Question{Name: e.fill(r.random), Type: e.qtype},
		Answer: Answer{Ended: c.start.Add(r.ended), Outcome: r.outcome(), Rcode: int(r.rcode),
			Node: c.names.text(r.node), Server: c.servers[r.server],
			Port: int(r.port), Via: vias[r.via], Attempts: int(r.attempts), Resets: int(r.resets),
			Error: c.names.text(r.err)},
	}
	if r.attempts > 0 {
		rec.Sent = c.start.Add(r.sent)
	}
	if c.config.Record != nil {
		c.config.Record(rec)
	}
	if !c.config.Discard {
		for len(c.records) <= rec.Seq {
			c.records = append(c.records, Record{})
		}
		c.records[rec.Seq] = rec
	}
}

// outcome is how the question ended.
func (r *result) outcome() Outcome {
	switch r.state {
	case answered:
		return Answered
	case refused:
		return Refused
	case broken:
		return Reset
	case unsent:
		return Unsent
	case spilled:
		return Spilled
	}
	return Timeout
}

// wait returns all records once the loop has ended.
func (c *collector) wait() []Record {
	<-c.done
	return c.records
}
