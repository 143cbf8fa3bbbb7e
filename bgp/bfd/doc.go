// Package bfd is Bidirectional Forwarding Detection: two hosts send each other
// small packets at a steady pace, and each knows within a few intervals when
// the other, or the path between them, has gone. It is a whole implementation
// in process, for one hop and for several, that depends on nothing but the
// standard library, x/sys and a Linux kernel.
//
// # Use
//
// An [Engine] holds the sockets and any number of sessions. [Engine.Add] begins
// a [Session] and calls back on each transition with an [Event];
// [Session.Status] is all that there is to know of it at a moment, and
// [Status.Trouble] the likely reason if it is not up.
//
//	engine := bfd.New(bfd.Options{Log: log})
//	session, err := engine.Add(bfd.Config{Peer: router}, func(e bfd.Event) {
//		if e.From == bfd.Up && e.Reason != bfd.ReasonPeerAdminDown { ... }
//	})
//	...
//	engine.Shutdown(ctx)
//
// What a transition means to a routing protocol is RFC 5882's matter and the
// caller's. Two things the events tell apart for that purpose: a peer that went
// down or silent ([ReasonPeerDown], [ReasonExpired]), and a peer whose operator
// took the session down ([ReasonPeerAdminDown]), which says nothing about the
// path.
//
// # Files
//
// The first group is pure: values in, values out, without a clock, a socket, a
// lock or a log. It can be read beside RFC 5880.
//
//	state.go      states, diagnostics, the reasons for transitions
//	packet.go     the control packet: Parse, AppendTo
//	discard.go    the reasons for which packets are thrown away
//	auth.go       types of authentication and their keys
//	sign.go       signing, verifying, sequence windows
//	poll.go       where a Poll Sequence stands
//	timers.go     negotiated intervals, detection time, jitter
//	machine.go    one end of a session: receive (section 6.8.6), expire,
//	              administer, update, and transition, which all of them go by
//	lateness.go   a histogram
//	trouble.go    what a status says about the cause
//
// The second group lives in time:
//
//	config.go     what a session is told, with defaults and checks
//	keyfile.go    secrets from files
//	session.go    a machine, its mutex, and the calls from outside
//	schedule.go   its two timers: when to send, when to give the peer up
//	status.go     what it remembers, and Status
//	demux.go      from a datagram to the session that it is for
//	engine.go     the tables of sessions, discriminators
//	events.go     the queue by which transitions are told
//
// The third deals with the kernel:
//
//	port.go           the ports, and the error of one that is taken
//	sockets_linux.go  the transport: listeners and links, source ports
//	listen_linux.go   receiving, and draining what waits
//	control_linux.go  TTL, destination, interface, time of arrival
//	send_linux.go     sending, with a socket for each session
//	port_linux.go     which process has a port
//	sched_linux.go    how this process is scheduled
//
// # Goroutines and locks
//
// There is no goroutine for a session. What happens to one happens in the
// goroutine that brings it, under the session's mutex:
//
//   - one goroutine for each listening socket reads packets and carries each to
//     its end: deliver, find, Session.receive, machine.receive, and the answer
//     if one is due. A packet is never handed from goroutine to goroutine, so
//     nothing waits for the scheduler between its reading and its effect.
//   - the pacer and the watch of each session are timers, each of which runs
//     transmit or expire in a goroutine of its own.
//   - callers of Session's and Engine's methods.
//   - one goroutine for each engine logs transitions and calls the notify
//     functions, in order. So a slow logger or client never delays a packet.
//
// Locks are taken in this order, and each may be skipped: the listener's, the
// engine's, the session's, that of the event queue. Hence expire drains the
// listener before it takes the session's mutex, and a link's methods other than
// drain, which are called with it, take no lock but that of the source ports.
// Options.Alive is called under a session's mutex and must not call back;
// notify functions are called under no lock and may call anything but
// Engine.Close and Engine.Shutdown.
//
// # Being late
//
// A busy machine makes a process late in two ways, and this package takes
// neither for a dead peer.
//
// Late to receive: the watch of a session may go off while the packets that
// would have calmed it wait in the socket. So expire first drains the socket,
// together with whatever packet another goroutine has in hand, and each packet
// counts from the moment at which the kernel got it. Status.Averted counts the
// times when that made the difference.
//
// Late to send: the peer gives us up, and rightly so. How late packets leave is
// measured all the time, in Status.Lateness. By BenchmarkLateness, on a virtual
// machine of 2 processors that others used as well, with 8 sessions at 50 ms,
// the worst of about a thousand packets was, in milliseconds, in one run each:
//
//	                                        SCHED_OTHER  SCHED_RR  SCHED_FIFO
//	no load of its own                              177        22           1
//	2 processes that compute                        342         5           1
//	4 processes that compute                        248         4           5
//	2 goroutines that compute, GOMAXPROCS=2         938       414     forever
//	2 goroutines that compute, GOMAXPROCS=8         105       133           -
//
// So a process that shares its machine needs real-time scheduling as a whole
// for intervals below 300 ms ([SetRealtime], or CPUSchedulingPolicy=rr in a
// systemd unit), it must not compute at length itself, and GOMAXPROCS above the
// number of processors helps it if it does. Locking a goroutine to a thread
// gained nothing. Under SCHED_FIFO, goroutines that compute on all processors
// keep Go's monitor from running, for good. [CurrentScheduling] says what a
// process has.
//
// # Conformance
//
//	RFC 5880  the protocol: asynchronous mode, the peer's Demand mode honored
//	          and never asked for, authentication of all five types; no Echo
//	          (Required Min Echo RX is 0), and bfd.Passive is not offered
//	RFC 5881  single hop on IPv4 and IPv6, link-local addresses included
//	RFC 5882  what clients need of it, see above
//	RFC 5883  multihop, with a least TTL
//	RFC 7419  all of its common intervals but 3.3 ms
//
// Where the RFC leaves a choice, or a peer's habit asks for one:
//
//   - A packet with Your Discriminator 0 takes a session down that is up, as
//     RFC 5880 has it: a peer that restarts is noticed at once. FRR and BIRD
//     wait for their detection time instead.
//   - The diagnostic is kept until the session is up again, and cleared then.
//   - After a detection time of silence the peer's Required Min RX counts as
//     the initial 1 microsecond again; else one that asked for no packets, and
//     restarted in the passive role, would never be spoken to.
//   - A sequence number is learned only from a packet whose digest is right.
//   - Every authenticated packet has a new sequence number, whatever the type.
//   - The peer's source port and, once the discriminators are known, its
//     address do not matter; BIRD's ports are not those of RFC 5881.
package bfd
