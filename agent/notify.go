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
	// conn is kept open, so that a process that has no file descriptor left
	// still shows that it decides; nil if it could not be had.
	conn  *net.UnixConn
	every time.Duration // between watchdog pings; zero: none are wanted
	next  time.Time
}

// newNotifier reads what systemd left in the environment.
func newNotifier() notifier {
	n := notifier{socket: os.Getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid := os.Getenv("WATCHDOG_PID")
	if err == nil && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.every = time.Duration(usec) * time.Microsecond / 2
	}
	if n.socket != "" {
		n.conn, _ = n.dial() // send tries again
	}
	return n
}

// dial opens the way to systemd.
func (n *notifier) dial() (*net.UnixConn, error) {
	return net.DialUnix("unixgram", nil,
		&net.UnixAddr{Name: n.socket, Net: "unixgram"})
}

// send tells systemd a state such as READY=1. It does not wait for a disk, nor
// for a systemd that does not read.
func (n *notifier) send(state string) error {
	if n.socket == "" {
		return nil
	}
	if n.conn != nil && tell(n.conn, state) == nil {
		return nil
	}
	c, err := n.dial()
	if err != nil {
		return fmt.Errorf("failed to reach the supervisor: %w", err)
	}
	defer c.Close()
	if err := tell(c, state); err != nil {
		return fmt.Errorf("failed to tell the supervisor: %w", err)
	}
	return nil
}

// tellWithin bounds the wait for a supervisor that does not read.
const tellWithin = 100 * time.Millisecond

// tell writes a state, and does not wait long: the loop calls it.
func tell(c *net.UnixConn, state string) error {
	if err := c.SetWriteDeadline(time.Now().Add(tellWithin)); err != nil {
		return err
	}
	_, err := c.Write([]byte(state))
	return err
}

// ping says that the deciding goroutine runs. Only the loop calls it.
func (n *notifier) ping(now time.Time) error {
	if n.every == 0 || now.Before(n.next) {
		return nil
	}
	n.next = now.Add(n.every)
	return n.send("WATCHDOG=1")
}
