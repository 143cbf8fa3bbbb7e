package bgp

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNotificationWords(t *testing.T) {
	tests := []struct {
		n    notification
		want string
	}{
		{notification{code: 2, subcode: 2}, "OPEN error: bad peer AS"},
		{notification{code: 2}, "OPEN error"},
		{notification{code: 4}, "hold timer expired"},
		{notification{code: 6, subcode: 10}, "cease: BFD down"},
		{notification{code: 6, subcode: 99}, "cease: subcode 99"},
		{notification{code: 99, subcode: 1}, "error 99: subcode 1"},
		{notification{code: 6, subcode: 2, data: []byte("\x04back")}, `cease: administrative shutdown ("back")`},
		{notification{code: 6, subcode: 4, data: []byte("\x03a\nb")}, `cease: administrative reset ("ab")`},
		{notification{code: 6, subcode: 2, data: []byte("\x04\xffok\x00")}, `cease: administrative shutdown ("ok")`},
		{notification{code: 6, subcode: 2, data: []byte{200, 'x'}}, "cease: administrative shutdown"},
		{notification{code: 6, subcode: 2, data: []byte{0}}, "cease: administrative shutdown"},
		{notification{code: 6, subcode: 3, data: []byte("\x04back")}, "cease: peer de-configured"},
	}
	for _, tt := range tests {
		if got := tt.n.String(); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.n, got, tt.want)
		}
	}
}

// A text is cut at a rune to what RFC 9003 allows, and comes back as sent.
func TestCease(t *testing.T) {
	long := strings.Repeat("é", 200)
	tests := []struct {
		name    string
		subcode uint8
		text    string
		want    string
	}{
		{"shutdown", ceaseShutdown, "bye", "bye"},
		{"no text", ceaseShutdown, "", ""},
		{"long", ceaseShutdown, long, strings.Repeat("é", 127)},
		{"not UTF-8", ceaseReset, "a\xffb", "ab"},
		{"no room for a text", ceaseBFD, "lost", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, ok := parseNotification(cease(tt.subcode, tt.text).message())
			if !ok || n.code != codeCease || n.subcode != tt.subcode {
				t.Fatalf("unexpected message: %+v", n)
			}
			if got := n.text(); got != tt.want || !utf8.ValidString(got) {
				t.Errorf("text %q, want %q", got, tt.want)
			}
		})
	}
}
