package load

import (
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// names gives texts small numbers, so that what is kept of a question holds no
// pointer. There are few: nodes and kinds of errors. What is known is read
// without a lock, for a loop that waited for one might wait for a thread that
// the kernel has put aside.
type names struct {
	mu    sync.Mutex // of who adds
	known atomic.Pointer[dictionary]
}

// dictionary is what is known at a time. It does not change.
type dictionary struct {
	texts  []string
	number map[string]uint16
}

// maxNames is how many texts are told apart; the rest share the last.
const maxNames = 1 << 12

// newNames knows the empty text, as number 0.
func newNames() *names {
	n := new(names)
	n.known.Store(&dictionary{[]string{""}, map[string]uint16{"": 0}})
	return n
}

// of is a text's number.
func (n *names) of(text []byte) uint16 {
	if i, ok := n.known.Load().number[string(text)]; ok {
		return i
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.known.Load()
	if i, ok := d.number[string(text)]; ok {
		return i
	}
	if len(d.texts) == maxNames {
		return maxNames - 1
	}
	i := uint16(len(d.texts))
	number := maps.Clone(d.number)
	number[string(text)] = i
	n.known.Store(&dictionary{append(slices.Clip(d.texts), readable(text)), number})
	return i
}

// text is the text of a number.
func (n *names) text(i uint16) string { return n.known.Load().texts[i] }

// readable is a text as it is, or its bytes in hexadecimal: an NSID may be
// anything (RFC 5001 section 2.3).
func readable(text []byte) string {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r < ' ' || r == 0x7f || (r == utf8.RuneError && size == 1) {
			return hex.EncodeToString(text)
		}
		i += size
	}
	return string(text)
}
