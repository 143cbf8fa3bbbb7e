package probe

import (
	"testing"
	"time"
)

// TestPrintable proves that nothing a server or script writes reaches a
// terminal as more than one line of text.
func TestPrintable(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "disk /dev/sda fails", "disk /dev/sda fails"},
		{"empty", "", ""},
		{"letters beyond ASCII", "Größe 5 µs", "Größe 5 µs"},
		{"tab", "a\tb", "a b"},
		{"lines", "a\r\nb", `a\r\nb`},
		{"escape sequence", "\x1b[31mred\x07", `\x1b[31mred\a`},
		{"zero byte", "a\x00b", `a\x00b`},
		{"not UTF-8", "a\xff\x80b", `a\xff\x80b`},
		{"the replacement character itself", "a\ufffdb", "a\ufffdb"},
		{"right to left override", "a\u202eb", `a\u202eb`},
		{"just fits", "12345678901234567890", "12345678901234567890"},
		{"too long", "123456789012345678901", "12345678901234567890..."},
		{"cut between runes", "1234567890123456789ö", "1234567890123456789..."},
		{"cut between escapes", "123456789012345678\n\n", `123456789012345678\n...`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Printable(tt.text, 20); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestNote proves what is said of a certificate's days.
func TestNote(t *testing.T) {
	now := time.Now()
	const day = 24 * time.Hour
	tests := []struct {
		left time.Duration
		want string
	}{
		{62*day + time.Hour, "certificate good for 62 days"},
		{2 * day, "certificate good for 2 days"},
		{2*day - time.Second, "certificate good for 47 hours"},
		{time.Second, "certificate good for 0 hours"},
		{-time.Second, "certificate expired 0 hours ago"},
		{-3 * day, "certificate expired 3 days ago"},
	}
	for _, tt := range tests {
		if got := (Result{Done: now, Expires: now.Round(0).Add(tt.left)}).Note(); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.left, got, tt.want)
		}
	}
	if got := (Result{Done: now}).Note(); got != "" {
		t.Errorf("no certificate: got %q", got)
	}
}
