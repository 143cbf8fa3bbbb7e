// Package load asks a DNS server questions at a given rate and says what came
// of each: the client's side of the lab.
//
// It is open loop: question i is due at start + i/rate whatever became of the
// questions before it, and its time counts from when it was due, not from when
// it was sent (a generator that waits for answers hides the very outages it
// should measure). Its own lateness is measured like everything else.
//
// generator.go holds the schedule, which knows no socket; an Ask (udp.go) puts
// one question and waits for its end; figures.go computes what a run amounts to
// from its records alone.
package load
