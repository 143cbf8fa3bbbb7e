// Package probe repeats one question to a service and judges the answers.
//
// Three kinds of parts are kept apart. A Prober makes one probe and says what
// came of it (a Result); packages beside this one implement it. The pure parts
// take values and return values: the verdict (verdict.go), the schedule
// (schedule.go), the percentiles (stats.go), the threshold of lateness
// (over.go) and the budget's windows (budget.go). The Runner ties them to the
// clock.
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
// Prober and hand the Result to the owner. A Budget is shared by the runners
// that ask one server and has a lock of its own.
package probe
