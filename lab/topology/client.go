package topology

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Client is a host that asks. A socket that it opens stays in its namespace,
// so a load generator in this process uses it like any other.
type Client struct {
	*Host
	addresses [][]netip.Prefix // of each client that it stands for, IPv4 and IPv6
}

// raiseClients makes and connects the clients: one host with all addresses, or
// on a flat network a host for each. There the router's ICMP redirects change
// a host's routes, and those of one host would be everybody's.
func (l *Lab) raiseClients() error {
	s, hosts := l.options.clientNet(), 1
	if l.options.Layout == Flat {
		hosts = l.options.Clients
	}
	for i := range hosts {
		name := "client"
		if i > 0 {
			name = fmt.Sprintf("client%d", i+1)
		}
		h, err := l.host(name)
		if err != nil {
			return err
		}
		c := &Client{Host: h}
		for j := i; j < l.options.Clients; j += hosts {
			c.addresses = append(c.addresses, s.addresses(clientHost+j))
		}
		if err := l.fabric.connect(h, s, slices.Concat(c.addresses...)); err != nil {
			return err
		}
		if err := c.setGateway(s, 1); err != nil {
			return err
		}
		l.clients = append(l.clients, c)
	}
	l.Client = l.clients[0]
	return nil
}

// ClientRanges are the addresses of all clients, IPv4 and IPv6, each as nft
// writes a range.
func (l *Lab) ClientRanges() (four, six string) {
	s, last := l.options.clientNet(), clientHost+l.options.Clients-1
	if last == clientHost {
		return s.v4(last).String(), s.v6(last).String()
	}
	return fmt.Sprintf("%s-%s", s.v4(clientHost), s.v4(last)), fmt.Sprintf("%s-%s", s.v6(clientHost), s.v6(last))
}

// Asker is the host on which client i, from 0, asks, and the client's own
// addresses there, IPv4 and IPv6.
func (l *Lab) Asker(i int) (*Client, []netip.Addr) {
	c := l.clients[i%len(l.clients)]
	var own []netip.Addr
	for _, p := range c.addresses[i/len(l.clients)] {
		own = append(own, p.Addr())
	}
	return c, own
}

// Run runs a command on the host and returns what it printed. A command that
// fails is an error with its output in it.
func (h *Host) Run(ctx context.Context, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := h.Do(cmd.Start); err != nil {
		return "", fmt.Errorf("failed to start %s on %s: %w", argv[0], h.ShortName, err)
	}
	if err := cmd.Wait(); err != nil {
		return out.String(), fmt.Errorf("failed to run %s on %s: %w: %s",
			strings.Join(argv, " "), h.ShortName, err, strings.TrimSpace(out.String()))
	}
	return out.String(), nil
}
