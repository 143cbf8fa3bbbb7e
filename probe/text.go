package probe

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text that somebody else wrote so that it can stand in a
// log and on a terminal: one line, everything that does not print escaped, and
// cut after about most bytes.
func Printable(text string, most int) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		piece := printable(r, text[:size])
		if b.Len()+len(piece) > most {
			return b.String() + "..."
		}
		b.WriteString(piece)
		text = text[size:]
	}
	return b.String()
}

// printable returns the rune r, whose bytes are raw, as it may be shown.
func printable(r rune, raw string) string {
	switch {
	case r == '\t':
		return " "
	case r == utf8.RuneError && len(raw) == 1:
		return `\x` + strconv.FormatUint(uint64(raw[0]), 16)
	case unicode.IsPrint(r):
		return raw
	}
	quoted := strconv.QuoteRuneToASCII(r)
	return quoted[1 : len(quoted)-1]
}
