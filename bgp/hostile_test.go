package bgp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// attr is a path attribute with its flags, type and an honest length.
func attr(flags, kind byte, value ...byte) []byte {
	return append([]byte{flags, kind, byte(len(value))}, value...)
}

// The mandatory attributes of a route from AS 65000.
var (
	origin  = attr(0x40, 1, 0)
	asPath  = attr(0x40, 2, 2, 1, 0, 0, 0xfd, 0xe8)
	nextHop = attr(0x40, 3, 127, 53, 0, 9)
)

// update is an UPDATE with attributes and the NLRI 198.51.100.0/24.
func update(attrs ...[]byte) []byte {
	all := bytes.Join(attrs, nil)
	b := binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(all)))
	return message(typeUpdate, append(append(b, all...), 24, 198, 51, 100))
}

// withLength is msg with a false length in its header.
func withLength(msg []byte, n uint16) []byte {
	msg = bytes.Clone(msg)
	binary.BigEndian.PutUint16(msg[16:], n)
	return msg
}

// hostile are messages that are malformed, or out of place once a session is
// established.
func hostile() map[string][]byte {
	good := update(origin, asPath, nextHop)
	reach := func(b ...byte) []byte { return update(origin, asPath, attr(0x80, 14, b...)) }
	unmarked := bytes.Clone(good)
	unmarked[3] = 0
	many := bytes.Repeat([]byte{32, 198, 51, 100, 7}, 900)
	return map[string][]byte{
		"bad marker":                    unmarked,
		"length 0":                      withLength(good, 0),
		"length 18":                     withLength(good, 18),
		"length too short for its body": withLength(good, 21),
		"length beyond what is sent":    append(withLength(good, uint16(len(good)+7)), keepalive()...),
		"length 65535":                  withLength(good, 65535),
		"oversize message":              message(typeUpdate, append([]byte{0, 0, 0, 0}, many...)),
		"type 0":                        message(0, nil),
		"type 9":                        message(9, []byte{1, 2, 3}),
		"type 255":                      message(255, nil),
		"OPEN again":                    rawOpen(65000, "192.0.2.254", true),
		"OPEN cut short":                message(typeOpen, []byte{4, 0xfd, 0xe8}),
		"OPEN of version 3":             message(typeOpen, []byte{3, 0xfd, 0xe8, 0, 90, 192, 0, 2, 254, 0}),
		"OPEN with a lying parameter":   message(typeOpen, []byte{4, 0xfd, 0xe8, 0, 90, 192, 0, 2, 254, 4, 2, 200, 1, 4}),
		"OPEN with a lying capability":  message(typeOpen, []byte{4, 0xfd, 0xe8, 0, 90, 192, 0, 2, 254, 4, 2, 2, 65, 4}),
		"OPEN with hold time 1":         message(typeOpen, []byte{4, 0xfd, 0xe8, 0, 1, 192, 0, 2, 254, 0}),
		"OPEN with identifier 0":        message(typeOpen, []byte{4, 0xfd, 0xe8, 0, 90, 0, 0, 0, 0, 0}),
		"OPEN with our identifier":      rawOpen(65000, "10.1.1.11", false),
		"OPEN of another AS":            rawOpen(65999, "192.0.2.254", false),
		"KEEPALIVE with a body":         message(typeKeepalive, []byte{1}),
		"NOTIFICATION without a body":   message(typeNotification, nil),
		"NOTIFICATION of code 200":      message(typeNotification, []byte{200, 200, 1}),
		"NOTIFICATION with a lying text": message(typeNotification,
			[]byte{codeCease, ceaseShutdown, 250, 'h', 'i'}),
		"ROUTE-REFRESH cut short":          message(5, []byte{0, 1}),
		"ROUTE-REFRESH of nothing":         message(5, []byte{0xff, 0xff, 0xff, 0xff}),
		"UPDATE without a body":            message(typeUpdate, nil),
		"withdrawn length beyond the end":  message(typeUpdate, []byte{0xff, 0xff, 0, 0}),
		"attribute length beyond the end":  message(typeUpdate, []byte{0, 0, 0xff, 0xff}),
		"attributes cut short":             message(typeUpdate, []byte{0, 0, 0, 2, 0x40, 1}),
		"prefix of 200 bits":               message(typeUpdate, append([]byte{0, 1, 200, 0, 0}, 1)),
		"NLRI cut short":                   message(typeUpdate, append([]byte{0, 0, 0, 0}, 24, 198)),
		"no mandatory attributes":          update(),
		"ORIGIN of length 3":               update(attr(0x40, 1, 0, 0, 0), asPath, nextHop),
		"ORIGIN of 9":                      update(attr(0x40, 1, 9), asPath, nextHop),
		"ORIGIN twice":                     update(origin, origin, asPath, nextHop),
		"wrong flags":                      update(attr(0xc0, 1, 0), asPath, nextHop),
		"unknown well-known attribute":     update(origin, asPath, nextHop, attr(0x40, 99, 1)),
		"AS_PATH with a lying count":       update(origin, attr(0x40, 2, 2, 200, 0, 0, 0xfd, 0xe8), nextHop),
		"AS_PATH of a strange segment":     update(origin, attr(0x40, 2, 77, 1, 0, 0, 0xfd, 0xe8), nextHop),
		"AS4_PATH before AS_PATH":          update(origin, attr(0xc0, 17, 2, 1, 0, 0, 0xfd, 0xe8), asPath, nextHop),
		"AS4_PATH malformed, first of all": update(attr(0xc0, 17, 2, 9, 0), origin, asPath, nextHop),
		"AS4_AGGREGATOR without another":   update(origin, asPath, nextHop, attr(0xc0, 18, 1, 2, 3)),
		"AGGREGATOR of length 1":           update(origin, asPath, nextHop, attr(0xc0, 7, 1)),
		"NEXT_HOP of length 3":             update(origin, asPath, attr(0x40, 3, 1, 2, 3)),
		"NEXT_HOP of multicast":            update(origin, asPath, attr(0x40, 3, 224, 0, 0, 1)),
		"communities of length 3":          update(origin, asPath, nextHop, attr(0xc0, 8, 1, 2, 3)),
		"large communities of length 5":    update(origin, asPath, nextHop, attr(0xc0, 32, 1, 2, 3, 4, 5)),
		"MP_REACH empty":                   reach(),
		"MP_REACH of a strange family":     reach(0xff, 0xff, 0xff, 4, 1, 2, 3, 4, 0, 24, 1, 2, 3),
		"MP_REACH with a lying next hop":   reach(0, 2, 1, 200, 1, 2, 3),
		"MP_REACH with next hop length 5":  reach(0, 2, 1, 5, 1, 2, 3, 4, 5, 0, 32, 0x20, 1, 0xd, 0xb8),
		"MP_REACH with a prefix of 255":    reach(append(append([]byte{0, 2, 1, 16}, make([]byte, 16)...), 0, 255, 1)...),
		"MP_REACH of EVPN junk":            reach(0, 25, 70, 4, 1, 2, 3, 4, 0, 2, 33, 1, 2, 3),
		"MP_REACH of flow-spec junk":       reach(0, 1, 133, 0, 0, 0xf0, 1, 1, 1),
		"MP_UNREACH cut short":             update(attr(0x80, 15, 0, 2)),
		"MP_UNREACH with a lying prefix":   update(attr(0x80, 15, 0, 2, 1, 128, 1)),
		"tunnel and prefix-SID junk": update(origin, asPath, nextHop, attr(0xc0, 23, 0, 15, 0, 99),
			attr(0xc0, 40, 5, 0, 99, 1)),
		"attribute with a long, lying length": update(origin, asPath, nextHop, []byte{0x50, 8, 0xff, 0xff, 1}),
		"500 bytes of 0xff":                   bytes.Repeat([]byte{0xff}, 500),
		"an HTTP request":                     []byte("GET / HTTP/1.1\r\nHost: router\r\n\r\n"),
	}
}

// One router goes mad: nothing panics, and the session of the other one, its
// route and what it hears next are as if nothing had been.
func TestHostileRouter(t *testing.T) {
	if n := len(hostile()); n < 25 {
		t.Fatalf("only %d hostile messages", n)
	}
	for _, when := range []string{"established", "before its OPEN"} {
		for name, msg := range hostile() {
			t.Run(when+"/"+name, func(t *testing.T) { hostileCase(t, when == "established", msg) })
		}
	}
}

// hostileCase has one of two routers send msg.
func hostileCase(t *testing.T, established bool, msg []byte) {
	mad, sane := newRawRouter(t, "127.53.1.1"), newRawRouter(t, "127.53.1.2")
	s := startSpeaker(t, Config{
		ASN: 65011, RouterID: netip.MustParseAddr("10.1.1.11"),
		Peers: []Peer{mad.peer(65000), sane.peer(65000)},
	})
	if err := s.Set(routes("10.1.9.53/32")); err != nil {
		t.Fatal(err)
	}
	good := sane.accept()
	good.establish(65000)
	s.established(1)
	good.nextUpdate()
	before := s.state(1)

	bad := mad.accept()
	if established {
		bad.establish(65000)
		s.established(0)
		bad.nextUpdate()
	}
	bad.send(msg)
	for { // until the speaker has judged it, or lets it pass
		if _, err := bad.read(60 * time.Millisecond); err != nil {
			break
		}
	}
	_ = bad.Close()

	if err := s.Set(routes("10.1.9.53/32", "10.1.9.54/32")); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(good.nextUpdate().NLRI); got != "[10.1.9.54/32:0]" {
		t.Errorf("the sane router got %s", got)
	}
	after := s.state(1)
	if !after.Since.Equal(before.Since) || after.State != "ESTABLISHED" || after.LastError != "" {
		t.Errorf("the sane session was touched: %+v, was %+v", after, before)
	}
}

// A router with more prefixes than the fuse bears is parked for a while, with
// an alarm, and the other session stays.
func TestPrefixLimit(t *testing.T) {
	mad := newRawRouter(t, "127.53.1.3")
	s := startSpeaker(t, Config{
		ASN: 65011, RouterID: netip.MustParseAddr("10.1.1.11"), Peers: []Peer{mad.peer(65000)},
	})
	c := mad.accept()
	c.establish(65000)
	s.established(0)
	for block := range 3 {
		attrs := bytes.Join([][]byte{origin, asPath, nextHop}, nil)
		b := binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(attrs)))
		b = append(b, attrs...)
		for i := range 400 {
			b = append(b, 32, 203, byte(block), byte(i>>8), byte(i))
		}
		c.send(message(typeUpdate, b))
	}
	n, _ := parseNotification(c.expect(typeNotification))
	if n.code != codeCease || n.subcode != ceasePrefixes {
		t.Errorf("unexpected notification: %s", n)
	}
	until(t, "the session parked", func() bool { return s.state(0).State == "IDLE" })
	if got := s.logs.lines("more than 1000 prefixes"); len(got) != 1 {
		t.Errorf("unexpected log: %q", got)
	}
}
