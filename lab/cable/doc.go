// Package cable is a wire between two interfaces of one network namespace, in
// user space: what comes in at one end goes out at the other, each way with a
// delay and a loss of its own, or not at all while the cable is cut. It stands
// where netem would, on kernels without it, and carries every kind of frame:
// ARP, IPv6, BFD, BGP, fragments, TCP in segments larger than the wire's.
//
//	node -- veth -- [end A  cable  end B] -- veth -- bridge
//
// Both ends keep their carrier whatever happens to the cable, so a cut is one
// that happened behind a switch. Frames with VLAN tags lose the tag: the kernel
// hands it over beside the frame.
//
// Who runs what: each way has two goroutines. The reader takes frames off the
// socket of the one end, decides their fate and sends those that need not wait;
// the writer sleeps until the oldest waiting frame is due. A way's mutex is
// held while either of them sends, so that after Shape has returned nothing of
// before comes out. The delay line (line.go) is pure: it is told the time. No
// goroutine wakes while the wire is silent.
//
// The delay counts from the kernel's own time stamp of the frame's arrival, so
// the time that the reader needed to wake up is not added to it; how much later
// than due a frame left is measured for every frame (Lateness). While there is a
// cable the process is urgent (lab/urgent): as an ordinary one, beside a dozen
// busy processes on two cores, it was measured to deliver up to 170 ms late,
// which took BFD sessions of 50 ms x 3 down.
//
// Measured on 2026-11-30 on two cores that others kept busy all the time (load
// 11 to 28), Linux 6.18, with
//
//	go test -run - -bench Cable -benchtime 5s ./lab/cable
//
//	round trip without a cable     median   7 us, p99  25 us
//	round trip, no delay           median  24 us, p99  51 us, worst 1.2 ms
//	beyond 2 x   1 ms delay        median 112 us, p99 384 us, worst 1.4 ms
//	beyond 2 x  10 ms delay        median 172 us, p99 271 us, worst 0.5 ms
//	beyond 2 x 100 ms delay        median 211 us, p99 245 us, worst 0.2 ms
//	lateness of a frame, no delay  median  11 us, p99  29 us, worst 1.2 ms
//	TCP, one stream                392 MB/s
//	packets of 60 bytes, one way   364,000 a second
//	loss of 0.3                    29.99 % of 2.3 million
//	20,000 queries and answers a second for 6 s, beside BFD at 50 ms x 3:
//	                               none lost, BFD never down, lateness p99 0.3 ms,
//	                               worst 1.2 ms; 45 % of a core, asker and
//	                               answerer included
//	idle                           0.3 % of a core, of which 0.1 % is the process
package cable
