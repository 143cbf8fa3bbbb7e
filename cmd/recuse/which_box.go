package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"recuse/probe"
	"recuse/probe/dnsx"
	"recuse/probe/dnsx/catchment"
)

// announce says what is to come.
func announce(w io.Writer, conf catchment.Config) {
	span := func(i dnsx.Inquiry) time.Duration { return (conf.Span(i) + time.Second - 1).Truncate(time.Second) }
	first, last := conf.Inquiries[0], conf.Inquiries[len(conf.Inquiries)-1]
	text := fmt.Sprintf("asking %s from %d source ports: about %s", conf.Server, conf.Flows, span(first))
	if span(first) != span(last) {
		text += fmt.Sprintf(", or %s if there is no %s", span(last), first)
	}
	fmt.Fprintln(w, text)
	if a := conf.Server.Addr.Addr(); here(a) {
		fmt.Fprintf(w, "warning: %s is on this box, so no question leaves it: ask from a client\n", a)
	}
}

// onBox returns an error unless the box has the link of the server's address,
// if it names one, and the source address can be bound; the zero address always
// can.
func onBox(ctx context.Context, server, source netip.Addr) error {
	if zone := server.Zone(); zone != "" && !linked(zone) {
		return fmt.Errorf("%q: no link %s on this box, use one that `ip link` shows", server, zone)
	}
	if !source.IsValid() {
		return nil
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(source, 0)))
	if err != nil {
		why, _ := probe.Failure(ctx, err)
		return fmt.Errorf("--source: %q: %s, use one that `ip address` shows", source, why.Outcome)
	}
	return conn.Close()
}

// linked tells whether the box has a link of that name or number.
func linked(zone string) bool {
	_, err := net.InterfaceByName(zone)
	if n, errNumber := strconv.Atoi(zone); err != nil && errNumber == nil {
		_, err = net.InterfaceByIndex(n)
	}
	return err == nil
}

// here tells whether an address is one of this box's own, so that its packets
// meet no router. Loopback is, as everybody knows.
func here(a netip.Addr) bool {
	if a.IsLoopback() {
		return false
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false // Only a warning depends on it.
	}
	for _, n := range own {
		p, err := netip.ParsePrefix(n.String())
		if err == nil && p.Addr() == a.WithZone("") {
			return true
		}
	}
	return false
}
