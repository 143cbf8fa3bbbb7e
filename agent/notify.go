package agent

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// notifier speaks to systemd (sd_notify(3)). Without one it is silent.
type notifier struct {
	socket string
	every  time.Duration // between watchdog pings; zero: none are wanted
	next   time.Time
}

// newNotifier reads what systemd left in the environment.
func newNotifier() notifier {
	n := notifier{socket: os.Getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid := os.Getenv("WATCHDOG_PID")
	if err == nil && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.every = time.Duration(usec) * time.Microsecond / 2
	}
	return n
}

// send tells systemd a state such as READY=1. The socket is a datagram one, and
// systemd reads it: this does not wait for a disk.
func (n *notifier) send(state string) error {
	if n.socket == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil,
		&net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("failed to reach the supervisor: %w", err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(state)); err != nil {
		return fmt.Errorf("failed to tell the supervisor: %w", err)
	}
	return nil
}

// ping says that the deciding goroutine runs. Only the loop calls it.
func (n *notifier) ping(now time.Time) error {
	if n.every == 0 || now.Before(n.next) {
		return nil
	}
	n.next = now.Add(n.every)
	return n.send("WATCHDOG=1")
}
