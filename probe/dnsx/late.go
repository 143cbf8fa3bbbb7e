package dnsx

import (
	"context"
	"fmt"
	"net"
	"time"

	"recuse/probe"
)

// patiently returns the finding alone: nobody waits for an answer that is late.
func patiently(f finding, late probe.Late) finding {
	if late != nil {
		ended, end := context.WithCancel(context.Background())
		end()
		late(ended) // frees the socket
	}
	return f
}

// tooLate says for people what a finding shows that came after the deadline of
// a question that left at sent, "" if it is none.
func tooLate(f finding, sent time.Time) string {
	if !f.alive {
		return ""
	}
	return fmt.Sprintf("answers after %v: %s", time.Since(sent).Round(time.Millisecond), f.text)
}

// expire makes reads and writes of conn fail when ctx is done, and returns what
// ends that. Once it has ended, the deadline is another's to set.
func expire(ctx context.Context, conn net.Conn) (stop func()) {
	// A failure would mean a closed socket, which the next call reports.
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	fired := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		_ = conn.SetDeadline(time.Unix(1, 0))
		close(fired)
	})
	return func() {
		if !cancel() {
			<-fired
		}
	}
}
