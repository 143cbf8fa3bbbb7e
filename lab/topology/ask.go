package topology

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"

	"github.com/miekg/dns"
)

// Ask sends one query over UDP from the host, with NSID asked for, and returns
// the answer. It does not retry; ctx bounds the wait.
func (h *Host) Ask(ctx context.Context, server netip.Addr, name string, qtype uint16) (*dns.Msg, error) {
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(name), qtype)
	m.SetEdns0(1232, false)
	opt := m.IsEdns0()
	opt.Option = append(opt.Option, &dns.EDNS0_NSID{Code: dns.EDNS0NSID})
	conn, err := h.DialUDP(net.UDPAddrFromAddrPort(netip.AddrPortFrom(server, dnsPort)))
	if err != nil {
		return nil, fmt.Errorf("failed to ask %s from %s: %w", server, h.ShortName, err)
	}
	defer conn.Close()
	var c dns.Client
	r, _, err := c.ExchangeWithConnContext(ctx, m, &dns.Conn{Conn: conn})
	if err != nil {
		return nil, fmt.Errorf("failed to ask %s from %s for %s: %w", server, h.ShortName, name, err)
	}
	return r, nil
}

// answeredBy is the host that an answer says it is from (NSID, RFC 5001), ""
// if it does not.
func answeredBy(m *dns.Msg) string {
	opt := m.IsEdns0()
	if opt == nil {
		return ""
	}
	for _, o := range opt.Option {
		if id, ok := o.(*dns.EDNS0_NSID); ok {
			name, _ := hex.DecodeString(id.Nsid) // what is no hex names nobody
			return string(name)
		}
	}
	return ""
}
