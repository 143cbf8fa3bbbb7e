package main

import (
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"recuse/probe/dnsx"
	"recuse/probe/dnsx/catchment"
)

// config reads the command line, or says the first thing that is wrong with it.
func (q inquest) config(c *cobra.Command, address string) (catchment.Config, error) {
	conf := catchment.Config{Flows: q.flows, Rate: q.rate, ChaosRate: q.chaosRate, Timeout: q.timeout}
	if err := q.bounds(); err != nil {
		return conf, err
	}
	var err error
	if conf.Server, err = dnsx.ParseServer(address); err != nil {
		return conf, fmt.Errorf("%w: %q: %w", errUsage, address, err)
	}
	if conf.Server.Secure() {
		return conf, fmt.Errorf("%w: %q: must be asked over udp:// or tcp://, which is what routers balance", errUsage, address)
	}
	if conf.Source, err = q.from(conf.Server.Addr.Addr()); err != nil {
		return conf, err
	}
	conf.Inquiries, err = q.inquiries(c.Flags().Changed("name"), c.Flags().Changed("type"))
	return conf, err
}

// bounds checks the numbers.
func (q inquest) bounds() error {
	switch {
	case q.flows < 1 || q.flows > flowsMax:
		return fmt.Errorf("%w: --count: %d: must be 1 to %d", errUsage, q.flows, flowsMax)
	case q.rate < 1 || q.rate > rateMax:
		return fmt.Errorf("%w: --rate: %d: must be 1 to %d questions a second", errUsage, q.rate, rateMax)
	case q.chaosRate < 1 || q.chaosRate > rateMax:
		return fmt.Errorf("%w: --chaos-rate: %d: must be 1 to %d questions a second", errUsage, q.chaosRate, rateMax)
	case q.timeout < waitMin || q.timeout > waitMax:
		return fmt.Errorf("%w: --timeout: %q: must be %s to %s", errUsage, q.timeout, waitMin, waitMax)
	}
	return nil
}

// from reads the source address, which is of the server's family.
func (q inquest) from(server netip.Addr) (netip.Addr, error) {
	if q.source == "" {
		return netip.Addr{}, nil
	}
	a, err := netip.ParseAddr(q.source)
	if err != nil || a.IsUnspecified() || a.IsMulticast() {
		return netip.Addr{}, fmt.Errorf("%w: --source: %q: must be an IP address of this box, without a port", errUsage, q.source)
	}
	if a = a.Unmap(); a.Is4() != server.Is4() {
		return netip.Addr{}, fmt.Errorf("%w: --source: %q: must be of the family of the server, %s", errUsage, q.source, server)
	}
	if a.Is6() && a.IsLinkLocalUnicast() && a.Zone() == "" {
		a = a.WithZone(server.Zone())
	}
	return a, nil
}

// inquiries returns what is to be asked.
func (q inquest) inquiries(named, typed bool) ([]dnsx.Inquiry, error) {
	if !named {
		if typed {
			return nil, fmt.Errorf("%w: --type: %q: means nothing without --name", errUsage, q.kind)
		}
		return dnsx.Inquiries(), nil
	}
	kind, err := dnsx.ParseType(q.kind)
	if err != nil {
		return nil, fmt.Errorf("%w: --type: %q: %w", errUsage, q.kind, err)
	}
	i, err := dnsx.NewInquiry(q.name, kind)
	if err != nil {
		return nil, fmt.Errorf("%w: --name: %q: %w", errUsage, q.name, err)
	}
	return []dnsx.Inquiry{i}, nil
}
