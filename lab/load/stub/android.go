package stub

import "time"

// Android is Android's DnsResolver over UDP: glibc's forebear with a memory. The
// law is that of res_nsend, send_dg and get_timeout in
// packages/modules/DnsResolver/res_send.cpp (Android 11): servers in order, two
// rounds, (5000 ms << i)/n for server i of n, but for the first the 5 s
// themselves, at least 1 s; SERVFAIL, NOTIMP, REFUSED and ICMP errors make it go
// on at once; without the experiment keep_listening_udp it hears only the server
// it waits for. A server that did badly is left out for half an hour: see
// memory.
func Android() Model {
	const timeout, floor, rounds = 5 * time.Second, time.Second, 2
	return Model{Name: "android", Title: "in order, 5 s each, twice; leaves out a server of which 3 in 4 fail",
		New: func(servers int) Stub {
			return &ordered{servers: servers, rounds: rounds, deaf: true, memory: newMemory(servers),
				wait: func(i int) time.Duration {
					if i == 0 {
						return timeout
					}
					return max(timeout<<i/time.Duration(servers), floor)
				}}
		}}
}

// sample is how one question to a server went.
type sample uint8

// The samples. Android tells errors from timeouts, but counts both against the
// server.
const (
	succeeded sample = iota
	failed
	timedOut
)

// What Android's DnsManager (frameworks/base, services/.../DnsManager.java)
// gives its resolver by default.
const (
	sampleValidity   = 1800 * time.Second
	successThreshold = 25 // percent
	minSamples       = 8
	maxSamples       = 64
)

// memory is what Android knows of its servers: the last samples of each, taken
// in the first round of lookups only (res_stats.cpp).
type memory struct {
	servers []record
}

// record is the samples of one server, the newest overwriting the oldest.
type record struct {
	samples []sample
	next    int
	last    time.Duration // when the newest was taken
}

// newMemory knows nothing yet.
func newMemory(servers int) *memory { return &memory{servers: make([]record, servers)} }

// add notes one sample.
func (m *memory) add(server int, s sample, now time.Duration) {
	r := &m.servers[server]
	r.last = now
	if len(r.samples) < maxSamples {
		r.samples = append(r.samples, s)
		return
	}
	r.samples[r.next] = s
	r.next = (r.next + 1) % maxSamples
}

// choose are the servers that a lookup asks. It is decided when the lookup
// begins and holds for all its rounds; if none is usable, all are.
func (m *memory) choose(l *Lookup, now time.Duration) Set {
	if l.asked != 0 {
		return l.asked
	}
	for i := range m.servers {
		if m.servers[i].usable(now) {
			l.asked |= only(i)
		}
	}
	if l.asked == 0 {
		l.asked = all(len(m.servers))
	}
	return l.asked
}

// usable reports whether a server is worth asking. Samples that say no are
// forgotten when they are old, so that the server gets another chance.
func (r *record) usable(now time.Duration) bool {
	if len(r.samples) < minSamples {
		return true
	}
	good := 0
	for _, s := range r.samples {
		if s == succeeded {
			good++
		}
	}
	if good*100/len(r.samples) >= successThreshold {
		return true
	}
	if now-r.last <= sampleValidity {
		return false
	}
	r.samples, r.next = r.samples[:0], 0
	return true
}
