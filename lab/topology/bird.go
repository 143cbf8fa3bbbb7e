package topology

import (
	"context"
	"fmt"
)

// bird is BIRD: one daemon, one file.
type bird struct {
	host   *Host
	daemon *Process
}

// newBird describes the daemon of a host.
func newBird(h *Host) *bird {
	b := &bird{host: h}
	b.daemon = h.process("bird", func() []string {
		return []string{tool("bird"), "-f", "-c", h.Path("bird.conf"), "-s", h.Path("bird.ctl"), "-P", h.Path("bird.pid")}
	})
	return b
}

// configure writes bird.conf; its log goes where the process writes.
func (b *bird) configure(text string) error {
	return b.host.write("bird.conf", "log stderr all;\n"+text)
}

// start starts the daemon and waits until it answers.
func (b *bird) start(ctx context.Context) error {
	if err := b.daemon.Start(); err != nil {
		return err
	}
	return b.daemon.ready(ctx, "bird answer", func() (bool, string) {
		_, err := b.host.Run(ctx, b.command("show status")...)
		return err == nil, fmt.Sprint(err)
	})
}

// command is a birdc call.
func (b *bird) command(question string) []string {
	return []string{tool("birdc"), "-s", b.host.Path("bird.ctl"), question}
}
