package load

import (
	"encoding/hex"
	"sync"
	"unicode/utf8"
)

// names gives texts small numbers, so that what is kept of a question holds no
// pointer. There are few: nodes and kinds of errors.
type names struct {
	mu     sync.Mutex
	texts  []string
	number map[string]uint16
}

// maxNames is how many texts are told apart; the rest share the last.
const maxNames = 1 << 15

// newNames knows the empty text, as number 0.
func newNames() *names { return &names{texts: []string{""}, number: map[string]uint16{"": 0}} }

// of is a text's number.
func (n *names) of(text []byte) uint16 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i, ok := n.number[string(text)]; ok {
		return i
	}
	if len(n.texts) == maxNames {
		return maxNames - 1
	}
	i := uint16(len(n.texts))
	n.number[string(text)] = i
	n.texts = append(n.texts, readable(text))
	return i
}

// text is the text of a number.
func (n *names) text(i uint16) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.texts[i]
}

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
