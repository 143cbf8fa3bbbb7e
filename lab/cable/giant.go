package cable

import "encoding/binary"

// The header in front of every frame (linux/virtio_net.h, virtio_net_hdr; its
// numbers are the host's) and where the headers behind it begin.
const (
	vnetFlags  = 0
	vnetType   = 1
	vnetSize   = 4
	vnetStart  = 6
	vnetOffset = 8
	vnetLen    = 10
	etherLen   = 14
)

// Values of the header's type and flags.
const (
	needsChecksum = 1
	sizeNone      = 0
	sizeTCP4      = 1
	sizeTCP6      = 4
	sizeUDP       = 5
	sizeECN       = 0x80
)

// Header numbers of TCP and UDP.
const (
	protoTCP = 6
	protoUDP = 17
)

// Flags of TCP that not every piece of a large segment bears (RFC 9293, 3.1;
// RFC 3168, 6.1.2 for CWR).
const (
	flagFIN = 0x01
	flagPSH = 0x08
	flagCWR = 0x80
)

// giant is a frame larger than the wire's, which the kernel would cut on its way
// out of a real interface: a large segment of TCP or UDP.
type giant struct {
	data    []byte // with the header in front
	payload int    // where the payload begins in data
	size    int    // payload of one frame
	proto   byte
}

// parse recognizes a giant. Frames that cannot be cut are none.
func parse(data []byte) (g giant, ok bool) {
	if len(data) < vnetLen+etherLen || data[vnetFlags]&needsChecksum == 0 {
		return giant{}, false
	}
	g = giant{data: data, size: int(binary.NativeEndian.Uint16(data[vnetSize:])), proto: protoTCP}
	l4 := vnetLen + int(binary.NativeEndian.Uint16(data[vnetStart:]))
	switch data[vnetType] &^ sizeECN {
	case sizeTCP4, sizeTCP6:
		if len(data) < l4+20 {
			return giant{}, false
		}
		g.payload = l4 + int(data[l4+12]>>4)*4
	case sizeUDP:
		g.payload, g.proto = l4+8, protoUDP
	default:
		return giant{}, false
	}
	ok = g.size > 0 && g.payload < len(data) && l4 >= vnetLen+etherLen+20
	return g, ok
}

// frames is how many frames of the wire the data stand for.
func frames(data []byte) int {
	if g, ok := parse(data); ok {
		return g.frames()
	}
	return 1
}

// frames is how many frames of the wire the giant is cut into.
func (g giant) frames() int { return (len(g.data) - g.payload + g.size - 1) / g.size }

// piece makes a frame, or a smaller giant, of n of its frames from the one
// numbered first on. What the kernel does when it cuts a segment (its lengths,
// the sequence number, the flags, the sum over the pseudo-header) is done here.
func (g giant) piece(first, n int) []byte {
	from := g.payload + first*g.size
	to := min(from+n*g.size, len(g.data))
	p := make([]byte, 0, g.payload+to-from)
	p = append(append(p, g.data[:g.payload]...), g.data[from:to]...)
	if n == 1 {
		p[vnetType] = sizeNone
		binary.NativeEndian.PutUint16(p[vnetSize:], 0)
	}
	l4 := vnetLen + int(binary.NativeEndian.Uint16(p[vnetStart:]))
	if g.proto == protoTCP {
		g.cutTCP(p[l4:], first, to == len(g.data))
	} else {
		binary.BigEndian.PutUint16(p[l4+4:], uint16(len(p)-l4))
	}
	g.cutIP(p, l4, first)
	return p
}

// cutTCP makes the header that of a piece.
func (g giant) cutTCP(h []byte, first int, last bool) {
	seq := binary.BigEndian.Uint32(h[4:])
	binary.BigEndian.PutUint32(h[4:], seq+uint32(first*g.size))
	if !last {
		h[13] &^= flagFIN | flagPSH
	}
	if first > 0 {
		h[13] &^= flagCWR
	}
}

// cutIP makes the lengths and sums those of a piece.
func (g giant) cutIP(p []byte, l4, first int) {
	ip := p[vnetLen+etherLen:]
	length := uint32(len(p) - l4)
	sum := length + uint32(g.proto)
	if ip[0]>>4 == 4 {
		binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
		id := binary.BigEndian.Uint16(ip[4:])
		binary.BigEndian.PutUint16(ip[4:], id+uint16(first))
		header := ip[:int(ip[0]&15)*4]
		binary.BigEndian.PutUint16(ip[10:], 0)
		binary.BigEndian.PutUint16(ip[10:], ^add(0, header))
		sum += uint32(add(0, ip[12:20]))
	} else {
		binary.BigEndian.PutUint16(ip[4:], uint16(len(ip)-40))
		sum += uint32(add(0, ip[8:40]))
	}
	offset := l4 + int(binary.NativeEndian.Uint16(p[vnetOffset:]))
	binary.BigEndian.PutUint16(p[offset:], add(sum, nil))
}

// add is the Internet checksum's sum, without its complement (RFC 1071); b has
// an even length.
func add(sum uint32, b []byte) uint16 {
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}
