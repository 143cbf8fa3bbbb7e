// Package probe repeats one question to a service and judges the answers.
//
// Three kinds of parts are kept apart. A Prober makes one probe and says what
// came of it (a Result); packages beside this one implement it. The pure parts
// take values and return values: the verdict (verdict.go) with its test for
// gray failure (slow.go), the schedule (schedule.go), the order in which signs
// of life are looked for (vigil.go), the percentiles (stats.go), the threshold
// of lateness (over.go) and the budget's windows (window.go). The Runner ties
// them to the clock; what it does once a run is in run.go, run_life.go and
// run_stall.go.
//
// What several probers share is here too: what an error of a socket means
// (failure.go), and how a TLS server proves to be the right one (trust.go,
// handshake.go).
//
// # Who owns what
//
// Every Runner has one owner goroutine, the one that calls Run. It alone reads
// and writes the verdict and the schedule and calls the report function. Each
// probe under way has a goroutine of its own, which does nothing but call the
// Prober and hand the Result to the owner, and so has each look for a sign of
// life and each wait for an answer that is late. A Budget is shared by the
// runners that ask one server and has a lock of its own.
package probe
