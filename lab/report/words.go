package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"recuse/lab/load"
)

// seconds spells a felt outage or a gap: two digits below ten seconds, fewer
// above, for the runs do not repeat to more than that.
func seconds(d time.Duration) string {
	s := d.Seconds()
	switch {
	case d == load.Infinite:
		return "endless"
	case d == 0:
		return "0"
	case s < 0.01:
		return "<0.01 s"
	case s < 10:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	case s < 100:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	}
	return strconv.FormatFloat(s, 'f', 0, 64) + " s"
}

// latency spells the time of one answer, of which fractions of a millisecond
// count; a lost one took for ever.
func latency(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d == load.Infinite:
		return "lost"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 2, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	}
	return seconds(d)
}

// offset spells a moment as seconds from the zero of a time line.
func offset(d time.Duration) string { return fmt.Sprintf("%+.3f s", d.Seconds()) }

// number spells a count with commas, so that thousands can be read.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural spells a count of things.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + more
}

// byNode spells answers by node, the nodes in order.
func byNode(nodes map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		parts = append(parts, nodeName(name)+" "+number(nodes[name]))
	}
	return strings.Join(parts, ", ")
}

// nodeName names who answered, also if it did not say.
func nodeName(name string) string {
	if name == "" {
		return "unnamed"
	}
	return clean(name)
}

// clean makes a text one line without control characters, which could move a
// terminal's cursor, or turn the direction of what follows.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cut shortens a text to at most n characters, and says that it did.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// markup is what Markdown would take for its own, underscores apart.
var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`,
	"[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "~", `\~`)

// plain makes any text safe within a line of Markdown. Hyphens, dots and
// underscores within a word, which names are full of, mean nothing there and
// stay readable in a terminal.
func plain(s string) string {
	runes := []rune(markup.Replace(clean(s)))
	inWord := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	var b strings.Builder
	for i, r := range runes {
		if r == '_' && !(inWord(i-1) && inWord(i+1)) {
			b.WriteRune('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
