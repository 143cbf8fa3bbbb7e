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
// Measured on 2026-11-30 on two cores, Linux 6.18, first on a quiet box, then on
// one that others kept busy all the time (load 11 to 28), with
//
//	go test -run - -bench Cable -benchtime 5s ./lab/cable
//
//	                                quiet: median, p99, worst   busy
//	round trip without a cable        6 us,  18 us               7 us,  25 us
//	round trip, no delay             14 us,  33 us, 1.3 ms      24 us,  51 us, 1.2 ms
//	beyond 2 x   1 ms delay          98 us, 189 us, 2.5 ms     112 us, 384 us, 1.4 ms
//	beyond 2 x  10 ms delay         204 us, 698 us, 2.7 ms     172 us, 271 us, 0.5 ms
//	beyond 2 x 100 ms delay         279 us, 486 us, 0.5 ms     211 us, 245 us, 0.2 ms
//	lateness of a frame, no delay     6 us,  17 us, 1.3 ms      11 us,  29 us, 1.2 ms
//	TCP, one stream                 458 MB/s                   392 MB/s
//	packets of 60 bytes, one way    296,000 a second           364,000 a second
//	loss of 0.3                     30.00 % of 1.9 million     29.99 % of 2.3 million
//	idle                            0.4 % of a core            0.3 %
//
// 20,000 queries and answers a second for 6 s, beside BFD at 50 ms x 3: none
// lost, BFD never down, lateness p99 0.2 ms and worst 0.4 ms on the quiet box, 0.3
// and 1.2 ms on the busy one; 41 and 45 % of a core, asker and answerer included.
// The process alone takes 0.1 % of a core when it idles, and its urgency as much.
package cable
