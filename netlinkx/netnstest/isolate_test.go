package netnstest

import (
	"net"
	"testing"
)

// TestIsolate finds nothing in the namespace but lo, which is up, from whatever
// goroutine.
func TestIsolate(t *testing.T) {
	if !Isolate(t) {
		return
	}
	for range 8 {
		links := make(chan []net.Interface)
		go func() {
			list, err := net.Interfaces()
			if err != nil {
				t.Error(err)
			}
			links <- list
		}()
		for _, l := range <-links {
			if up := l.Flags&net.FlagUp != 0; up != (l.Name == "lo") {
				t.Errorf("%s is up: %t", l.Name, up)
			}
		}
	}
}
