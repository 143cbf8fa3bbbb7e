package bfd

import "testing"

func TestPoll(t *testing.T) {
	const (
		request = iota // new values
		sent           // a packet left that could carry Poll
		final          // a packet with Final came
		plain          // a packet without Final came
	)
	tests := []struct {
		name   string
		from   poll
		event  int
		to     poll
		done   bool
		active bool // in to
	}{
		{"begins", pollIdle, request, pollNew, false, true},
		{"new values join one that has not left", pollNew, request, pollNew, false, true},
		{"new values spoil one that has left", pollSent, request, pollStale, false, true},
		{"spoiled stays spoiled", pollStale, request, pollStale, false, true},
		{"one that is due stays due", pollDue, request, pollDue, false, false},
		{"nothing leaves", pollIdle, sent, pollIdle, false, false},
		{"leaves", pollNew, sent, pollSent, false, true},
		{"repeated", pollSent, sent, pollSent, false, true},
		{"repeated with newer values", pollStale, sent, pollStale, false, true},
		{"a plain packet does not carry one that is due", pollDue, sent, pollDue, false, false},
		{"final without poll", pollIdle, final, pollIdle, false, false},
		{"final before poll has left", pollNew, final, pollNew, false, true},
		{"final ends it", pollSent, final, pollIdle, true, false},
		{"final for older values", pollStale, final, pollDue, false, false},
		{"a copy of that final", pollDue, final, pollDue, false, false},
		{"a plain packet lets the next begin", pollDue, plain, pollNew, false, true},
		{"a plain packet ends nothing", pollSent, plain, pollSent, false, true},
		{"a plain packet begins nothing", pollIdle, plain, pollIdle, false, false},
		{"a plain packet leaves a new one alone", pollNew, plain, pollNew, false, true},
		{"a plain packet leaves a spoiled one alone", pollStale, plain, pollStale, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, done := tt.from, false
			switch tt.event {
			case request:
				got = got.request()
			case sent:
				got = got.sent()
			case final:
				got, done = got.received(true)
			case plain:
				got, done = got.received(false)
			}
			if got != tt.to || done != tt.done || got.active() != tt.active {
				t.Errorf("got %d done %t active %t, want %d %t %t",
					got, done, got.active(), tt.to, tt.done, tt.active)
			}
		})
	}
}
