package lab_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/topology"
)

// wire is a tcpdump on a node's way to its routers.
type wire struct {
	t    testing.TB
	node *topology.Node
	path string
	end  func()
}

// message is one BGP message that a node sent.
type message struct {
	At   time.Time      // of the packet in which it ended, by the kernel's clock
	Kind string         // open, announce, depreference, withdraw, end-of-rib, notification, keepalive
	Six  bool           // of an UPDATE: IPv6
	Of   []netip.Prefix // of an UPDATE: the routes in it
	Text string         // of a NOTIFICATION: code/subcode and the communication
	To   netip.Addr
}

// capture begins to record the node's BGP packets. It ends with the test, or
// when they are read.
func capture(t testing.TB, n *topology.Node) *wire {
	t.Helper()
	w := &wire{t: t, node: n, path: filepath.Join(t.TempDir(), "bgp.pcap")}
	w.end = background(t, n, "tcpdump", "-i", "lan0", "-n", "-U", "--immediate-mode", "-s", "0", "-Z", "root",
		"-w", w.path, "tcp port 179")
	// The header is written once the kernel records.
	eventually(t, "tcpdump begin", func() (bool, string) {
		info, err := os.Stat(w.path)
		return err == nil && info.Size() >= pcapHeader, fmt.Sprint(err)
	})
	return w
}

// background runs a program on a node until the test ends or the returned
// function is called, and waits for its end.
func background(t testing.TB, n *topology.Node, argv ...string) (end func()) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, n.Do(cmd.Start))
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended: Wait tells
		_ = cmd.Wait()                          // ended by the signal
	}
	t.Cleanup(end)
	return end
}

// sent ends the recording and returns what the node sent, in order. Packets
// are written when they come, but the last ones may still be on their way to
// the file: until says what must be there.
func (w *wire) sent(until func([]message) bool) []message {
	w.t.Helper()
	var list []message
	eventually(w.t, "the messages on the wire", func() (bool, string) {
		raw, err := os.ReadFile(w.path)
		must(w.t, err)
		list = decode(raw, w.node)
		return until(list), fmt.Sprintf("%+v", list)
	})
	w.end()
	return list
}

// Sizes in a capture file and in the protocols on the way to BGP.
const (
	pcapHeader   = 24
	recordHeader = 16
	etherHeader  = 14
	ip6Header    = 40
	bgpHeader    = 19
)

// decode reads the messages that a node sent out of a capture file. A record
// that is not complete yet is left for the next look.
func decode(raw []byte, n *topology.Node) []message {
	var list []message
	streams := map[string]*stream{}
	for rest := raw[min(len(raw), pcapHeader):]; len(rest) >= recordHeader; {
		at := time.Unix(int64(binary.LittleEndian.Uint32(rest)), int64(binary.LittleEndian.Uint32(rest[4:]))*1000)
		size := recordHeader + int(binary.LittleEndian.Uint32(rest[8:]))
		if size > len(rest) {
			break
		}
		s, ok := dissect(rest[recordHeader:size])
		rest = rest[size:]
		if !ok || (s.from.Addr() != n.V4 && s.from.Addr() != n.V6) {
			continue
		}
		key := s.from.String() + s.to.String()
		if streams[key] == nil {
			streams[key] = &stream{}
		}
		for _, m := range streams[key].take(s) {
			m.At, m.To = at, s.to.Addr()
			list = append(list, m)
		}
	}
	return list
}

// segment is one TCP segment.
type segment struct {
	from, to netip.AddrPort
	seq      uint32
	syn      bool
	data     []byte
}

// dissect takes an Ethernet frame apart.
func dissect(frame []byte) (s segment, ok bool) {
	if len(frame) < etherHeader+ip6Header {
		return s, false
	}
	var from, to netip.Addr
	ip := frame[etherHeader:]
	tcp := ip
	switch binary.BigEndian.Uint16(frame[12:]) {
	case 0x0800:
		ip = ip[:min(len(ip), int(binary.BigEndian.Uint16(ip[2:])))] // without padding
		from, to = netip.AddrFrom4([4]byte(ip[12:16])), netip.AddrFrom4([4]byte(ip[16:20]))
		tcp = ip[int(ip[0]&15)*4:]
	case 0x86dd:
		from, to = netip.AddrFrom16([16]byte(ip[8:24])), netip.AddrFrom16([16]byte(ip[24:40]))
		tcp = ip[ip6Header:]
	}
	if !from.IsValid() || len(tcp) < 20 {
		return s, false
	}
	s.from = netip.AddrPortFrom(from, binary.BigEndian.Uint16(tcp))
	s.to = netip.AddrPortFrom(to, binary.BigEndian.Uint16(tcp[2:]))
	s.seq, s.syn = binary.BigEndian.Uint32(tcp[4:]), tcp[13]&2 != 0
	s.data = tcp[min(len(tcp), int(tcp[12]>>4)*4):]
	return s, true
}

// stream puts the segments of one direction together. On a lossless wire they
// come in order; what comes again is left out.
type stream struct {
	begun bool
	next  uint32
	buf   []byte
}

// take adds a segment and returns the messages that are complete by it. A
// recording may begin in the middle of a session, but a sender that was idle
// begins a segment with a message.
func (s *stream) take(g segment) []message {
	if g.syn {
		*s = stream{begun: true, next: g.seq + 1}
		return nil
	}
	if !s.begun {
		s.begun, s.next = true, g.seq
	}
	if g.seq != s.next {
		return nil
	}
	s.next += uint32(len(g.data))
	s.buf = append(s.buf, g.data...)
	var list []message
	for len(s.buf) >= bgpHeader {
		size := int(binary.BigEndian.Uint16(s.buf[16:]))
		if size < bgpHeader || size > len(s.buf) {
			break
		}
		list = append(list, parse(s.buf[18], s.buf[bgpHeader:size]))
		s.buf = bytes.Clone(s.buf[size:])
	}
	return list
}

// parse reads one BGP message (RFC 4271 section 4).
func parse(kind byte, body []byte) message {
	switch kind {
	case 1:
		return message{Kind: "open"}
	case 2:
		return update(body)
	case 3:
		m := message{Kind: "notification", Text: fmt.Sprintf("%d/%d", body[0], body[1])}
		if len(body) > 3 { // RFC 9003: length and text
			m.Text += " " + string(body[3:])
		}
		return m
	}
	return message{Kind: "keepalive"}
}

// The path attributes that are looked at.
const (
	attrCommunities = 8
	attrReach       = 14
	attrUnreach     = 15
)

// gracefulShutdown is the community of a route that is about to go (RFC 8326).
var gracefulShutdown = []byte{0xff, 0xff, 0, 0}

// update reads an UPDATE of one family.
func update(body []byte) message {
	withdrawn := int(binary.BigEndian.Uint16(body))
	attrs := body[2+withdrawn:]
	attrs, nlri := attrs[2:2+binary.BigEndian.Uint16(attrs)], attrs[2+binary.BigEndian.Uint16(attrs):]
	m := message{Kind: "end-of-rib"}
	if withdrawn > 0 {
		m.Kind, m.Of = "withdraw", prefixes(body[2:2+withdrawn], false)
	}
	if len(nlri) > 0 {
		m.Kind, m.Of = "announce", prefixes(nlri, false)
	}
	leaving := false
	for len(attrs) >= 3 {
		size, head := int(attrs[2]), 3
		if attrs[0]&0x10 != 0 { // extended length
			size, head = int(binary.BigEndian.Uint16(attrs[2:])), 4
		}
		value := attrs[head : head+size]
		switch attrs[1] {
		case attrCommunities:
			leaving = bytes.Contains(value, gracefulShutdown)
		case attrReach: // family, next hop with its length, a reserved octet
			m.Kind, m.Six = "announce", true
			m.Of = prefixes(value[5+int(value[3]):], true)
		case attrUnreach: // family
			m.Six = true
			if len(value) > 3 {
				m.Kind, m.Of = "withdraw", prefixes(value[3:], true)
			}
		}
		attrs = attrs[head+size:]
	}
	if m.Kind == "announce" && leaving {
		m.Kind = "depreference"
	}
	return m
}

// prefixes reads routes as UPDATEs have them: the length in bits, and as many
// octets as that takes.
func prefixes(b []byte, six bool) (list []netip.Prefix) {
	for len(b) > 0 {
		bits, size := int(b[0]), (int(b[0])+7)/8
		var full [16]byte
		copy(full[:], b[1:1+size])
		a := netip.AddrFrom16(full)
		if !six {
			a = netip.AddrFrom4([4]byte(full[:4]))
		}
		list, b = append(list, netip.PrefixFrom(a, bits)), b[1+size:]
	}
	return list
}

// story is what the messages say of each route, in order. One step in it is one
// UPDATE for that route.
func story(list []message) map[netip.Prefix]string {
	m := map[netip.Prefix]string{}
	for _, u := range list {
		for _, p := range u.Of {
			m[p] = strings.TrimSpace(m[p] + " " + u.Kind)
		}
	}
	return m
}

// told ends the recording when that much has been sent, and fails the test
// unless it is what was to be told of each of these routes, and of no other.
func (w *wire) told(want string, of ...netip.Prefix) {
	w.t.Helper()
	stories := map[netip.Prefix]string{}
	for _, p := range of {
		stories[p] = want
	}
	list := w.sent(func(l []message) bool {
		steps := 0
		for _, u := range l {
			steps += len(u.Of)
		}
		return steps >= len(strings.Fields(want))*len(of)
	})
	if diff := cmp.Diff(stories, story(list), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		w.t.Errorf("UPDATEs of each route (-want +got):\n%s", diff)
	}
}

// count is how many of the messages are of that kind.
func count(list []message, kind string) (n int) {
	for _, m := range list {
		if m.Kind == kind {
			n++
		}
	}
	return n
}

// span returns when the first and the last message of that kind were sent.
func span(list []message, kind string) (first, last time.Time) {
	for _, m := range list {
		if m.Kind != kind {
			continue
		}
		if first.IsZero() {
			first = m.At
		}
		last = m.At
	}
	return first, last
}
