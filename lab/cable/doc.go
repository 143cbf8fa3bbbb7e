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
// than due a frame left is measured for every frame (Lateness).
package cable
