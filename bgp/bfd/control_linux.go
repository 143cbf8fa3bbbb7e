package bfd

import (
	"encoding/binary"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// readControl takes the TTL, the destination, the interface and the time of
// arrival out of the control messages that came with a packet. What is not
// there stays as it is: d.at the time of the call.
func (d *datagram) readControl(b []byte) {
	for len(b) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			return
		}
		d.readMessage(h.Level, h.Type, data)
		b = rest
	}
}

// readMessage reads one control message.
func (d *datagram) readMessage(level, typ int32, data []byte) {
	switch {
	case level == unix.IPPROTO_IP && typ == unix.IP_TTL && len(data) >= 4,
		level == unix.IPPROTO_IPV6 && typ == unix.IPV6_HOPLIMIT && len(data) >= 4:
		d.ttl = int(int32(binary.NativeEndian.Uint32(data)))

	// struct in_pktinfo: index, local address, destination of the header.
	case level == unix.IPPROTO_IP && typ == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo:
		d.ifindex = int(int32(binary.NativeEndian.Uint32(data)))
		d.to = netip.AddrFrom4([4]byte(data[8:12]))

	// struct in6_pktinfo: destination, index.
	case level == unix.IPPROTO_IPV6 && typ == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
		d.to = netip.AddrFrom16([16]byte(data[:16]))
		d.ifindex = int(binary.NativeEndian.Uint32(data[16:]))

	case level == unix.SOL_SOCKET && typ == unix.SCM_TIMESTAMPNS:
		d.at = arrived(d.at, timespec(data))
	}
}

// timespec reads a struct timespec, whose fields are as wide as the machine's
// words. A narrow one is read without a sign, and so serves until 2106.
func timespec(b []byte) time.Time {
	switch len(b) {
	case 16:
		seconds, nanos := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:])
		return time.Unix(int64(seconds), int64(nanos))
	case 8:
		seconds, nanos := binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint32(b[4:])
		return time.Unix(int64(seconds), int64(nanos))
	}
	return time.Time{}
}

// arrived returns the moment at which a packet came that is read now, on the
// monotonic clock of now. The kernel stamps with the wall clock, so the age of
// the packet is taken from that one. If it was set back in between, or there
// is no stamp, the packet is taken for new. If it was set forward, the packet
// seems old and is no proof of life; the next one is.
func arrived(now, stamp time.Time) time.Time {
	// Round strips the monotonic reading, so that Sub compares wall clocks.
	age := now.Round(0).Sub(stamp)
	if stamp.IsZero() || age < 0 {
		return now
	}
	return now.Add(-age)
}
