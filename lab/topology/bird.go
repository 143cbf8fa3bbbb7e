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
	b.daemon = h.Add("bird", func() []string {
		return []string{tool("bird"), "-f", "-c", h.Path("bird.conf"), "-s", h.Path("bird.ctl"), "-P", h.Path("bird.pid")}
	})
	b.daemon.Ready = func() (bool, string) {
		_, err := h.Run(context.Background(), h.Birdc("show status")...)
		return err == nil, fmt.Sprint(err)
	}
	return b
}

// configure writes bird.conf; its log goes where the process writes.
func (b *bird) configure(text string) error {
	return b.host.WriteFile("bird.conf", "log stderr all;\n"+text)
}

// start starts the daemon and waits until it answers.
func (b *bird) start(ctx context.Context) error {
	return b.daemon.Launch(ctx)
}

// command is a birdc call.
func (b *bird) command(question string) []string { return b.host.Birdc(question) }
