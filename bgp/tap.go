package bgp

// tap reads along with a stream of messages. It changes nothing and holds
// nothing up: a stream that makes no sense is passed on unread, for GoBGP to
// judge.
type tap struct {
	see  func(msg []byte) // called with each whole message
	buf  []byte           // a message's bytes so far
	lost bool
}

// feed takes the next bytes of the stream.
func (t *tap) feed(b []byte) {
	if t.lost {
		return
	}
	t.buf = append(t.buf, b...)
	rest := t.buf
	for len(rest) >= headerLen {
		length, _, err := header(rest)
		if err != nil {
			t.lost, t.buf = true, nil
			return
		}
		if len(rest) < length {
			break
		}
		t.see(rest[:length])
		rest = rest[length:]
	}
	t.keep(rest)
}

// keep holds on to the unfinished message, and gives large buffers back.
func (t *tap) keep(rest []byte) {
	if len(rest) == 0 && cap(t.buf) > 4096 {
		t.buf = nil
		return
	}
	t.buf = append(t.buf[:0], rest...)
}

// between reports whether the stream is known to stand between two messages.
func (t *tap) between() bool { return !t.lost && len(t.buf) == 0 }
