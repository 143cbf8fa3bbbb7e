package cable

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// kind is a kind of giant to build.
type kind struct {
	name    string
	v6      bool
	proto   byte
	vnet    byte
	options int // bytes of TCP options
}

var kinds = []kind{
	{"tcp4", false, protoTCP, sizeTCP4, 0},
	{"tcp4 with options and ECN", false, protoTCP, sizeTCP4 | sizeECN, 12},
	{"tcp6", true, protoTCP, sizeTCP6, 12},
	{"udp4", false, protoUDP, sizeUDP, 0},
	{"udp6", true, protoUDP, sizeUDP, 0},
}

// first sequence number and IPv4 identification of what build makes; near their
// ends, so that they wrap.
const (
	firstSeq = math.MaxUint32 - 2000
	firstID  = math.MaxUint16 - 1
)

// build makes a giant as a kernel hands it over.
func (k kind) build(payload []byte, size int) []byte {
	l4 := make([]byte, 8)
	offset := 6
	if k.proto == protoTCP {
		l4, offset = make([]byte, 20+k.options), 16
		binary.BigEndian.PutUint32(l4[4:], firstSeq)
		l4[12], l4[13] = byte(len(l4)/4)<<4, flagFIN|flagPSH|flagCWR|0x10
	}
	l4 = append(l4, payload...)
	if k.proto == protoUDP {
		binary.BigEndian.PutUint16(l4[4:], uint16(len(l4)))
	}
	ip := k.ip(len(l4))
	vnet := make([]byte, vnetLen)
	vnet[vnetFlags], vnet[vnetType] = needsChecksum, k.vnet
	binary.NativeEndian.PutUint16(vnet[vnetSize:], uint16(size))
	binary.NativeEndian.PutUint16(vnet[vnetStart:], uint16(etherLen+len(ip)))
	binary.NativeEndian.PutUint16(vnet[vnetOffset:], uint16(offset))
	ether := make([]byte, etherLen)
	return bytes.Join([][]byte{vnet, ether, ip, l4}, nil)
}

// ip is the IP header in front of n bytes.
func (k kind) ip(n int) []byte {
	if k.v6 {
		h := make([]byte, 40)
		h[0], h[6] = 0x60, k.proto
		binary.BigEndian.PutUint16(h[4:], uint16(n))
		copy(h[8:], netip.MustParseAddr("2001:db8::1").AsSlice())
		copy(h[24:], netip.MustParseAddr("2001:db8::2").AsSlice())
		return h
	}
	h := make([]byte, 20)
	h[0], h[9] = 0x45, k.proto
	binary.BigEndian.PutUint16(h[2:], uint16(n+20))
	binary.BigEndian.PutUint16(h[4:], firstID)
	copy(h[12:], netip.MustParseAddr("192.0.2.1").AsSlice())
	copy(h[16:], netip.MustParseAddr("198.51.100.7").AsSlice())
	return h
}

// complete fills the checksum in, as the kernel or a network card does with what
// it is told (linux/virtio_net.h), and returns the frame without the header.
func complete(piece []byte) []byte {
	start := vnetLen + int(binary.NativeEndian.Uint16(piece[vnetStart:]))
	at := start + int(binary.NativeEndian.Uint16(piece[vnetOffset:]))
	binary.BigEndian.PutUint16(piece[at:], ^slowSum(piece[start:]))
	return piece[vnetLen:]
}

// slowSum adds 16 bit words in one's complement arithmetic, carry by carry.
func slowSum(b []byte) uint16 {
	var sum uint16
	for i := 0; i < len(b); i += 2 {
		word := uint16(b[i]) << 8
		if i+1 < len(b) {
			word |= uint16(b[i+1])
		}
		if sum += word; sum < word {
			sum++
		}
	}
	return sum
}

// TestPieces cuts giants anyhow: the pieces hold the whole payload in order, and
// each is a right packet of its own.
func TestPieces(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				size := rapid.IntRange(1, 1400).Draw(t, "size")
				payload := rapid.SliceOfN(rapid.Byte(), 1, 5000).Draw(t, "payload")
				g, ok := parse(k.build(payload, size))
				if n := (len(payload) + size - 1) / size; !ok || g.frames() != n {
					t.Fatalf("%d frames, %v, want %d", g.frames(), ok, n)
				}
				var all []byte
				for first := 0; first < g.frames(); {
					n := rapid.IntRange(1, g.frames()-first).Draw(t, "frames")
					p := g.piece(first, n)
					if frames(p) != n || (p[vnetType] == sizeNone) != (n == 1) {
						t.Fatalf("the piece stands for %d frames, its header says %x; want %d", frames(p), p[:vnetLen], n)
					}
					first += n
					all = append(all, k.check(t, complete(p), (first-n)*size, first == g.frames())...)
				}
				if !bytes.Equal(all, payload) {
					t.Fatal("the payload differs")
				}
			})
		})
	}
}

// check looks at a finished frame whose payload begins at offset, and returns
// that payload.
func (k kind) check(t *rapid.T, p []byte, offset int, last bool) []byte {
	ip := p[etherLen:]
	l4, addresses := ip[20:], ip[12:20]
	if k.v6 {
		l4, addresses = ip[40:], ip[8:40]
		if n := binary.BigEndian.Uint16(ip[4:]); int(n) != len(l4) {
			t.Fatalf("IPv6 says %d bytes, has %d", n, len(l4))
		}
	} else if n := binary.BigEndian.Uint16(ip[2:]); int(n) != len(ip) || slowSum(ip[:20]) != 0xffff {
		t.Fatalf("IPv4 says %d bytes, has %d; its sum is %x", n, len(ip), slowSum(ip[:20]))
	}
	pseudo := append(append([]byte(nil), addresses...), 0, k.proto, byte(len(l4)>>8), byte(len(l4)))
	if sum := slowSum(append(pseudo, l4...)); sum != 0xffff {
		t.Fatalf("the sum of the packet is %x", sum)
	}
	if k.proto == protoUDP {
		if n := binary.BigEndian.Uint16(l4[4:]); int(n) != len(l4) {
			t.Fatalf("UDP says %d bytes, has %d", n, len(l4))
		}
		return l4[8:]
	}
	if seq, want := binary.BigEndian.Uint32(l4[4:]), uint32(firstSeq)+uint32(offset); seq != want {
		t.Fatalf("sequence number %d, want %d", seq, want)
	}
	if fin, cwr := l4[13]&(flagFIN|flagPSH) != 0, l4[13]&flagCWR != 0; fin != last || cwr != (offset == 0) {
		t.Fatalf("flags %x at %d, last %v", l4[13], offset, last)
	}
	return l4[20+k.options:]
}

func TestNoGiants(t *testing.T) {
	whole := kinds[0].build(make([]byte, 3000), 1000)
	changed := func(i int, v byte) []byte {
		d := bytes.Clone(whole)
		d[i] = v
		return d
	}
	for name, data := range map[string][]byte{
		"empty":             nil,
		"short":             whole[:20],
		"no TCP header":     whole[:vnetLen+etherLen+30],
		"no payload":        whole[:vnetLen+etherLen+40],
		"not cut":           changed(vnetType, sizeNone),
		"UDP fragments":     changed(vnetType, 3),
		"sum is complete":   changed(vnetFlags, 0),
		"starts in a frame": changed(vnetStart, 5),
	} {
		if g, ok := parse(data); ok {
			t.Errorf("%s: taken for a giant of %d frames", name, g.frames())
		} else if frames(data) != 1 {
			t.Errorf("%s: %d frames", name, frames(data))
		}
	}
}

// TestGiantLoss loses a tenth of the frames that giants stand for, not a tenth
// of the giants.
func TestGiantLoss(t *testing.T) {
	const giants, each = 1000, 40
	l := newLine(Shape{Loss: 0.1})
	data := kinds[0].build(make([]byte, each*1000), 1000)
	whole, passed := 0, 0
	for range giants {
		l.enter(epoch, epoch, data, func(p []byte, _ time.Time) {
			if passed += frames(p); frames(p) == each {
				whole++
			}
		})
	}
	const n = giants * each
	if lost := float64(l.count.Lost); math.Abs(lost-n/10) > 5*math.Sqrt(n*0.09) || passed+int(lost) != n || int(l.count.In) != n {
		t.Errorf("%v lost and %d passed of %d", lost, passed, n)
	}
	// 0.9^40 of 1000 are untouched: 15, with a deviation of 4.
	if whole > 40 {
		t.Errorf("%d of %d giants were not touched", whole, giants)
	}
}
