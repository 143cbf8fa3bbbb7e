// Package load asks DNS servers questions at a given rate, as many clients
// would, and says what came of each: the client's side of the lab.
//
// It is open loop: question i is due at start + i/rate whatever became of the
// questions before it, and its time counts from when it was due, not from when
// it was sent (a generator that waits for answers hides the very outages it
// should measure). Its own lateness is measured like everything else, and so is
// what it loses itself; a run in which either counts is void.
//
// Clients ask in turn. Each has its own network (Network), its own stub
// resolver, of a model from package stub, and its own way through the names
// (Mix). A lookup is one Record, however often its stub asks.
//
// Which file holds what:
//
//	run.go, config.go    Run and its Config
//	loop.go, timers.go   the schedule and the lookups under way: one goroutine, no
//	                     socket, no lock
//	wire.go              what the loop wants of sockets; tests have a fake
//	sockets.go, source.go, receive.go
//	                     UDP on raw sockets and one epoll, on the loop's goroutine
//	streams.go, stream.go
//	                     TCP and TLS, on goroutines of their own
//	collector.go         records, made on another goroutine
//	message.go, mix.go   questions and answers, names
//	files.go             the limit of open files
//	record.go, csv.go    a record, and records as a file
//	figures.go, clients.go, moved.go, window.go
//	                     what records amount to, from them alone
//
// A question under way costs some 300 bytes here; over UDP with a port of its
// own it costs the kernel 2 to 3 kB more and a file descriptor, so the limit of
// those bounds how many can be. Over TCP and TLS a connection costs two
// goroutines.
package load
