package topology

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"syscall"
)

// Client is the host that asks. A socket that it opens stays in its namespace,
// so a load generator in this process uses it like any other.
type Client struct{ *Host }

// Dial opens a UDP socket, from a new port, to a server's address.
func (c *Client) Dial(server netip.AddrPort) (net.Conn, error) {
	return c.DialUDP(net.UDPAddrFromAddrPort(server))
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
