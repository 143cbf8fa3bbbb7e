package bgp

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error codes (RFC 4271, section 4.5).
const (
	codeHeader  = 1
	codeOpen    = 2
	codeUpdate  = 3
	codeHold    = 4
	codeFSM     = 5
	codeCease   = 6
	codeRefresh = 7
)

// Subcodes that mean something to us.
const (
	openBadPeerAS     = 2
	openBadIdentifier = 3
	ceasePrefixes     = 1
	ceaseShutdown     = 2
	ceaseRemoved      = 3
	ceaseReset        = 4
	ceaseChanged      = 6
	ceaseBFD          = 10 // RFC 9384
)

// maxShutdownText is the longest text of RFC 9003, in bytes.
const maxShutdownText = 255

// notification is the body of a NOTIFICATION.
type notification struct {
	code, subcode uint8
	data          []byte
}

// parseNotification reads a whole NOTIFICATION message.
func parseNotification(msg []byte) (notification, bool) {
	if len(msg) < headerLen+2 || msg[18] != typeNotification {
		return notification{}, false
	}
	b := msg[headerLen:]
	return notification{code: b[0], subcode: b[1], data: b[2:]}, true
}

// message returns n as a whole message.
func (n notification) message() []byte {
	return message(typeNotification, append([]byte{n.code, n.subcode}, n.data...))
}

// cease returns a Cease; text goes with the two subcodes that have room for it
// (RFC 9003) and is cut at a rune.
func cease(subcode uint8, text string) notification {
	n := notification{code: codeCease, subcode: subcode}
	if text == "" || subcode != ceaseShutdown && subcode != ceaseReset {
		return n
	}
	text = strings.ToValidUTF8(text, "")
	for len(text) > maxShutdownText {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	n.data = append([]byte{byte(len(text))}, text...)
	return n
}

// String names the error in words, and its shutdown communication.
func (n notification) String() string {
	name, ok := codeNames[n.code]
	if !ok {
		name = fmt.Sprintf("error %d", n.code)
	}
	if sub := n.subcodeName(); sub != "" {
		name += ": " + sub
	}
	if text := n.text(); text != "" {
		name += fmt.Sprintf(" (%q)", text)
	}
	return name
}

// subcodeName returns the subcode in words, its number if it is not known, or
// nothing for "unspecific".
func (n notification) subcodeName() string {
	if s, ok := subcodeNames[[2]uint8{n.code, n.subcode}]; ok {
		return s
	}
	if n.subcode == 0 {
		return ""
	}
	return fmt.Sprintf("subcode %d", n.subcode)
}

// text returns the shutdown communication (RFC 9003), or "". A router's text
// is not trusted: control characters are left out.
func (n notification) text() string {
	if n.code != codeCease || n.subcode != ceaseShutdown && n.subcode != ceaseReset {
		return ""
	}
	if len(n.data) == 0 || int(n.data[0]) > len(n.data)-1 {
		return ""
	}
	clean := func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}
	return strings.Map(clean, string(n.data[1:1+int(n.data[0])]))
}

// codeNames are the error codes in words.
var codeNames = map[uint8]string{
	codeHeader:  "message header error",
	codeOpen:    "OPEN error",
	codeUpdate:  "UPDATE error",
	codeHold:    "hold timer expired",
	codeFSM:     "state machine error",
	codeCease:   "cease",
	codeRefresh: "ROUTE-REFRESH error", // RFC 7313
}

// subcodeNames are the pairs of code and subcode in words (RFC 4271, section
// 6; RFC 4486; RFC 5492; RFC 6608; RFC 8538; RFC 9234; RFC 9384).
var subcodeNames = map[[2]uint8]string{
	{1, 1}: "connection not synchronized", {1, 2}: "bad message length",
	{1, 3}: "bad message type",
	{2, 1}: "unsupported version number", {2, 2}: "bad peer AS",
	{2, 3}: "bad BGP identifier", {2, 4}: "unsupported optional parameter",
	{2, 5}: "authentication failure", {2, 6}: "unacceptable hold time",
	{2, 7}: "unsupported capability", {2, 11}: "role mismatch",
	{3, 1}: "malformed attribute list", {3, 2}: "unrecognized well-known attribute",
	{3, 3}: "missing well-known attribute", {3, 4}: "attribute flags error",
	{3, 5}: "attribute length error", {3, 6}: "invalid ORIGIN attribute",
	{3, 7}: "AS routing loop", {3, 8}: "invalid NEXT_HOP attribute",
	{3, 9}: "optional attribute error", {3, 10}: "invalid network field",
	{3, 11}: "malformed AS_PATH",
	{5, 1}:  "unexpected message in OPENSENT", {5, 2}: "unexpected message in OPENCONFIRM",
	{5, 3}: "unexpected message in ESTABLISHED",
	{6, 1}: "maximum number of prefixes reached", {6, 2}: "administrative shutdown",
	{6, 3}: "peer de-configured", {6, 4}: "administrative reset",
	{6, 5}: "connection rejected", {6, 6}: "other configuration change",
	{6, 7}: "connection collision", {6, 8}: "out of resources",
	{6, 9}: "hard reset", {6, 10}: "BFD down",
}
