package topology

import (
	"context"
	"fmt"
)

// InstallFRR describes FRR's daemons with that configuration on a host, in the
// order of their start; the last of them loads it. It may be called once for a
// host.
func (h *Host) InstallFRR(config string) ([]*Process, error) {
	f := newFRR(h)
	if err := f.configure(config); err != nil {
		return nil, err
	}
	return f.use, nil
}

// Vtysh is the command that puts a question to the FRR of a host.
func (h *Host) Vtysh(question string) []string {
	return []string{tool("vtysh"), "--vty_socket", h.Dir, "-c", question}
}

// InstallBIRD describes BIRD with that configuration on a host. It may be called
// once for a host.
func (h *Host) InstallBIRD(config string) (*Process, error) {
	b := newBird(h)
	return b.daemon, b.configure(config)
}

// Birdc is the command that puts a question to the BIRD of a host.
func (h *Host) Birdc(question string) []string {
	return []string{tool("birdc"), "-s", h.Path("bird.ctl"), question}
}

// StartFRR starts FRR on the node with that configuration, as another announcer
// to compare an agent with: the lab freezes and ends its daemons with the rest
// of the node. It may be called once for a node.
func (n *Node) StartFRR(ctx context.Context, config string) error {
	processes, err := n.InstallFRR(config)
	if err != nil {
		return err
	}
	if err := launch(ctx, processes); err != nil {
		return fmt.Errorf("failed to start FRR on %s: %w", n.ShortName, err)
	}
	return nil
}
