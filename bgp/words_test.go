package bgp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestDialWords(t *testing.T) {
	p := Peer{Address: netip.MustParseAddr("10.1.1.1"), Port: 179}
	op := func(err error) error { return &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", err)} }
	tests := []struct {
		name string
		p    Peer
		err  error
		want string
	}{
		{"refused", p, op(unix.ECONNREFUSED), "10.1.1.1:179 refuses the TCP connection: no BGP there, or it does not take this address"},
		{"silence", p, context.DeadlineExceeded, "10.1.1.1:179 gives no answer to the TCP connection: it may expect an MD5 password, port 179 may be filtered, or the router is down"},
		{"silence, MD5", p.with(func(p *Peer) { p.Password = "x" }), op(unix.ETIMEDOUT),
			"10.1.1.1:179 gives no answer to the TCP connection: the MD5 password may differ or the router has none, port 179 may be filtered, or the router is down"},
		{"silence, GTSM", p.with(func(p *Peer) { p.TTLSecurity = true }), os.ErrDeadlineExceeded,
			"10.1.1.1:179 gives no answer to the TCP connection: ttl_security may be set on one side only, it may expect an MD5 password, port 179 may be filtered, or the router is down"},
		{"no ARP", p, op(unix.EHOSTUNREACH), "10.1.1.1:179 cannot be reached: it does not answer on the link, or a router on the way says so"},
		{"no route", p, op(unix.ENETUNREACH), "no route to 10.1.1.1:179: the uplink may be down or have no address yet"},
		{"no local address", p.with(func(p *Peer) { p.LocalAddress = netip.MustParseAddr("10.1.1.11") }), op(unix.EADDRNOTAVAIL),
			"local_address 10.1.1.11 is not on this box (yet)"},
		{"no source", p, op(unix.EADDRNOTAVAIL), "no usable local address towards 10.1.1.1:179 (yet)"},
		{"no interface", p.with(func(p *Peer) { p.Interface = "e9" }), op(unix.ENODEV), "interface e9 is not on this box (yet)"},
		{"another", p, unix.EPERM, "failed to connect to 10.1.1.1:179: operation not permitted"},
	}
	for _, tt := range tests {
		if got := tt.p.dialWords(tt.err); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	p := &peer{cfg: v4Peer().withDefaults(), asn: 65011, self: node{id: netip.MustParseAddr("10.1.1.11")}}
	theirs := &open{asn: 65000, routerID: netip.MustParseAddr("10.1.1.11")}
	other := &open{asn: 65001, routerID: netip.MustParseAddr("192.0.2.1")}
	up := time.Now().Add(-time.Minute)
	said := func(code, subcode uint8) *notification { return &notification{code: code, subcode: subcode} }
	tests := []struct {
		name string
		e    *endNote
		err  error
		kind ending
		want string
	}{
		{"lost", &endNote{upSince: up}, io.EOF, endLost, "connection lost: the router closed it"},
		{"reset", &endNote{upSince: up}, fmt.Errorf("read: %w", unix.ECONNRESET), endLost, "connection lost: the router reset it"},
		{"no acknowledgement", &endNote{upSince: up}, unix.ETIMEDOUT, endLost, "10.1.1.1 acknowledged nothing for the hold time of 9s"},
		{"closed before OPEN", &endNote{}, io.EOF, endSilent,
			"10.1.1.1 took the connection and ended it without a BGP message (the router closed it): it may know no neighbour at our address, or have it shut down"},
		{"closed after OPEN", &endNote{open: theirs}, io.EOF, endSilent, "10.1.1.1 ended the connection before the session was up: the router closed it"},
		{"no OPEN", &endNote{tooSlow: true}, errSlow, endSilent, "10.1.1.1 took the connection but sent no OPEN"},
		{"acknowledged no OPEN", &endNote{}, unix.ETIMEDOUT, endSilent, "10.1.1.1 took the connection but sent no OPEN"},
		{"no KEEPALIVE", &endNote{tooSlow: true, open: theirs}, errSlow, endSilent, "10.1.1.1 sent an OPEN, but no session came of it for 10s"},
		{"they refuse our AS", &endNote{said: said(2, 2)}, nil, endRefused,
			"the router refuses our AS 65011: it says bad peer AS, so its configuration for this node names another"},
		{"we refuse their AS", &endNote{said: said(2, 2), byUs: true, open: other}, nil, endRefused,
			"the router is AS 65001, but asn: 65000 is configured (bad peer AS)"},
		{"same identifier", &endNote{said: said(2, 3), open: theirs}, nil, endRefused,
			"router-id 10.1.1.11 clashes with the router's 10.1.1.11 (bad BGP identifier): set bgp.router_id"},
		{"another OPEN error", &endNote{said: said(2, 6), open: theirs}, nil, endRefused, "the router refused our OPEN: OPEN error: unacceptable hold time"},
		{"another OPEN error of theirs", &endNote{said: said(2, 6), byUs: true}, nil, endRefused, "we refused the router's OPEN: OPEN error: unacceptable hold time"},
		{"hold timer", &endNote{said: said(4, 0), byUs: true, upSince: up}, nil, endLost, "we ended the session: hold timer expired"},
		{"UPDATE error", &endNote{said: said(3, 1), byUs: true, upSince: up}, nil, endBroken, "we ended the session: UPDATE error: malformed attribute list"},
		{"shutdown", &endNote{said: &notification{6, 2, []byte("\x03bye")}, upSince: up}, nil, endCease,
			`the router ended the session: cease: administrative shutdown ("bye")`},
		{"their limit", &endNote{said: said(6, 1), upSince: up}, nil, endRefused, "the router ended the session: cease: maximum number of prefixes reached"},
		{"our limit", &endNote{said: said(6, 1), byUs: true, upSince: up}, nil, endLimit,
			"the router sent more than 1000 prefixes of one family, session parked for 30s: filter on the router, only service prefixes are wanted"},
		{"BFD", &endNote{said: said(6, 10), byUs: true, why: "BFD: timer", upSince: up}, nil, endBFD, "BFD: timer"},
		{"BFD of theirs", &endNote{said: said(6, 10), upSince: up}, nil, endBFD, "the router ended the session: cease: BFD down"},
		{"a reset of ours", &endNote{said: said(6, 4), byUs: true, why: "held too much", upSince: up}, nil, endCease, "held too much"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kind, got := tt.e.verdict(p, tt.err)
			if kind != tt.kind || got != tt.want {
				t.Errorf("verdict:\n got %d %s\nwant %d %s", kind, got, tt.kind, tt.want)
			}
		})
	}
}

// The first NOTIFICATION is the reason; the next ones answer it.
func TestFirstNotificationCounts(t *testing.T) {
	var e endNote
	e.received(notification{code: 2, subcode: 2})
	e.sent(notification{code: 5, subcode: 1}, "")
	if e.said.code != 2 || e.byUs {
		t.Errorf("unexpected reason: %s, by us: %t", e.said, e.byUs)
	}
}
