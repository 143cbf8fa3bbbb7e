package cable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of an end's buffers. A large segment is at most 64 KiB of IP
// (GSO_LEGACY_MAX_SIZE, a veth's default), behind the header that says how to
// cut it and the Ethernet header.
const (
	frameRoom   = 64<<10 + 256
	controlRoom = 64
	socketRoom  = 8 << 20 // what the kernel holds for an end that does not run
)

// end is one end of a cable: a packet socket (packet(7)) bound to an interface.
// Frames carry a virtio_net_hdr in front, which says where a checksum is still
// to be filled in and how a large segment is to be cut: taken from the one
// socket and given to the other unchanged, both stay right.
type end struct {
	mtu  int
	file *os.File
	conn syscall.RawConn

	in, out  messages
	buffers  [batch][]byte
	controls [batch][]byte
	arrivals []arrival

	unreadable atomic.Uint64 // frames that came and could not be taken

	take    func(fd uintptr) bool // takeSome and putAll, made once
	put     func(fd uintptr)
	failure error    // of the receive under way
	sending [][]byte // of the send under way
	refused int
}

// newEnd takes the interface over. It must be called in its namespace.
func newEnd(name string) (*end, error) {
	link, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("failed to find %s: %w", name, err)
	}
	if err := silence(name); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("failed to open packet socket: %w", err)
	}
	e := &end{mtu: link.MTU, file: os.NewFile(uintptr(fd), name), arrivals: make([]arrival, 0, batch)}
	if err := e.prepare(fd, link.Index); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to take over %s: %w", name, err), e.file.Close())
	}
	for i := range batch {
		e.buffers[i], e.controls[i] = make([]byte, frameRoom), make([]byte, controlRoom)
	}
	e.take, e.put = e.takeSome, e.putAll
	return e, nil
}

// silence keeps the kernel from sending its own IPv6 talk out of the interface.
func silence(name string) error {
	path := filepath.Join("/proc/sys/net/ipv6/conf", name, "disable_ipv6")
	err := os.WriteFile(path, []byte("1"), 0)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without IPv6
		return fmt.Errorf("failed to turn IPv6 off: %w", err)
	}
	return nil
}

// prepare sets the socket's options and binds it, which starts it.
func (e *end) prepare(fd, index int) (err error) {
	for _, o := range []struct{ level, name, value int }{
		{unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1},
		{unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1},
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1},
		{unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, socketRoom},
		{unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, socketRoom},
	} {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			return fmt.Errorf("failed to set option %d of packet socket: %w", o.name, err)
		}
	}
	promiscuous := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
	if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &promiscuous); err != nil {
		return fmt.Errorf("failed to hear all frames: %w", err)
	}
	all := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index}); err != nil {
		return fmt.Errorf("failed to bind packet socket: %w", err)
	}
	e.conn, err = e.file.SyscallConn()
	return err
}

// receive waits for frames and returns those that are there.
func (e *end) receive() ([]arrival, error) {
	for {
		if err := e.conn.Read(e.take); err != nil {
			return nil, fmt.Errorf("failed to read from cable: %w", err)
		}
		if e.failure == nil {
			return e.arrivals, nil
		}
		// The interface went down (told once), or a frame was of a kind that the
		// header cannot describe: the next call waits again.
		if errors.Is(e.failure, unix.EINVAL) {
			e.unreadable.Add(1)
		}
	}
}

// takeSome reads what is there, and reports false if that is nothing.
func (e *end) takeSome(fd uintptr) bool {
	for i := range batch {
		e.in.point(i, e.buffers[i], e.controls[i])
	}
	var n int
	n, e.failure = e.in.receive(fd, batch)
	if errors.Is(e.failure, unix.EAGAIN) {
		return false
	}
	e.stamp(n)
	return true
}

// stamp makes arrivals of the first n messages. The kernel stamps with the wall
// clock; only the age of a frame is taken from it.
func (e *end) stamp(n int) {
	clock := time.Now()
	e.arrivals = e.arrivals[:0]
	for i := range n {
		m := &e.in.hdr[i]
		if m.hdr.Flags&unix.MSG_TRUNC != 0 {
			e.unreadable.Add(1)
			continue
		}
		age := clock.Sub(stamped(e.controls[i][:m.hdr.Controllen], clock))
		age = min(max(age, 0), time.Second)
		e.arrivals = append(e.arrivals, arrival{clock.Add(-age), e.buffers[i][:m.n]})
	}
}

// stamped is the time in the control data, or clock if there is none.
func stamped(control []byte, clock time.Time) time.Time {
	const header = unix.SizeofCmsghdr
	if len(control) < header+16 {
		return clock
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(control)))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SO_TIMESTAMPNS_NEW {
		return clock
	}
	sec := binary.NativeEndian.Uint64(control[header:])
	nsec := binary.NativeEndian.Uint64(control[header+8:])
	return time.Unix(int64(sec), int64(nsec))
}

// dropped says how many frames the kernel had no room for, or could not hand
// over, since the last call.
func (e *end) dropped() uint64 {
	n := e.unreadable.Swap(0)
	_ = e.conn.Control(func(fd uintptr) {
		// Fails on no socket that is open.
		if s, err := unix.GetsockoptTpacketStats(int(fd), unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
			n += uint64(s.Drops)
		}
	})
	return n
}

// send sends the frames without waiting, and returns how many frames of the wire
// were refused. One goroutine may call it at a time.
func (e *end) send(batch [][]byte) int {
	e.sending, e.refused = batch, 0
	// Fails only on a closed end, whose counters nobody reads any more.
	_ = e.conn.Control(e.put)
	e.sending = nil
	return e.refused
}

// putAll sends the frames; what the kernel refuses is passed over.
func (e *end) putAll(fd uintptr) {
	for i, f := range e.sending {
		e.out.point(i, f, nil)
	}
	for i := 0; i < len(e.sending); {
		n, err := e.out.send(fd, i, len(e.sending))
		if i += n; err != nil {
			e.refused += frames(e.sending[i])
			i++
		}
	}
}

// close ends the end and whoever reads from it.
func (e *end) close() error { return e.file.Close() }
