package netlinkx

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// script is a socket that receives what the test sends.
type script chan error

// Receive implements receiver.
func (s script) Receive() ([]syscall.NetlinkMessage, *unix.SockaddrNetlink, error) {
	err, open := <-s
	if !open {
		return nil, nil, errors.New("closed")
	}
	return nil, nil, err
}

// Close implements receiver.
func (s script) Close() { close(s) }

// TestListen states what becomes a wake-up, and that no failure ends the watch.
func TestListen(t *testing.T) {
	tests := []struct {
		name  string
		got   []error // received before anybody looks
		pause time.Duration
	}{
		{"one change", []error{nil}, 0},
		{"many changes", []error{nil, nil, nil, nil}, 0},
		{"overrun", []error{unix.ENOBUFS}, 0},
		{"overrun among changes", []error{nil, unix.ENOBUFS, nil}, 0},
		{"another failure", []error{unix.ENOMEM}, watchPause},
		{"failures without end", []error{unix.ENOMEM, unix.ENOMEM, unix.ENOMEM}, 3 * watchPause},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s, wake := make(script), make(chan struct{}, 1)
				go listen(ctx, s, wake)
				start := time.Now()
				for _, err := range tt.got {
					s <- err // taken although nobody looks: the reader never blocks
				}
				s <- nil
				synctest.Wait()
				if d := time.Since(start); d != tt.pause {
					t.Errorf("took %v, want %v", d, tt.pause)
				}
				if n := drain(wake); n != 1 {
					t.Errorf("got %d wake-ups, want 1", n)
				}
				s <- nil
				synctest.Wait()
				if n := drain(wake); n != 1 {
					t.Errorf("one more change: got %d wake-ups, want 1", n)
				}
				cancel()
				s.Close() // the bubble fails if listen goes on
				synctest.Wait()
				if n := drain(wake); n != 0 {
					t.Errorf("at the end: got %d wake-ups, want none", n)
				}
			})
		})
	}
}

// drain takes what waits in the channel.
func drain(wake <-chan struct{}) int {
	for n := 0; ; n++ {
		select {
		case <-wake:
		default:
			return n
		}
	}
}
