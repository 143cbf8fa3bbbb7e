package config

import (
	"reflect"
	"testing"
	"time"
)

// TestNearest checks which key is taken for the one that was meant.
func TestNearest(t *testing.T) {
	tests := []struct{ name, word, want string }{
		{"letter missing", "adress", "address"},
		{"letter too much", "addresss", "address"},
		{"letters swapped", "multiohp", "multihop"},
		{"other case", "Address", "address"},
		{"dash", "hold-time", "hold_time"},
		{"dash and letter", "hold-tim", "hold_time"},
		{"short and far", "xsn", "asn"},
		{"short and swapped", "san", "asn"},
		{"short and farther", "xyn", ""},
		{"far", "timeout", ""},
		{"nothing", "", ""},
		{"very long", string(make([]byte, 1<<16)), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := nearest(tt.word, fieldsOf(reflect.TypeFor[rawPeer]())); got != tt.want {
				t.Errorf("nearest(%.20q) = %q, want %q", tt.word, got, tt.want)
			}
		})
	}
}

// TestShort checks that durations are written as people do.
func TestShort(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {time.Hour, "1h"}, {time.Minute, "1m"}, {90 * time.Second, "1m30s"},
		{90 * time.Minute, "1h30m"}, {10 * time.Second, "10s"}, {time.Hour + time.Second, "1h0m1s"},
		{20 * time.Millisecond, "20ms"}, {10 * time.Minute, "10m"}, {10 * time.Hour, "10h"},
	}
	for _, tt := range tests {
		if got := short(tt.d); got != tt.want {
			t.Errorf("short(%d) = %q, want %q", tt.d, got, tt.want)
		}
		if back, err := time.ParseDuration(short(tt.d)); err != nil || back != tt.d {
			t.Errorf("short(%d) = %q, which is %d (%v)", tt.d, short(tt.d), back, err)
		}
	}
}

// TestProblem checks the line of a problem, the one of the design among them.
func TestProblem(t *testing.T) {
	tests := []struct {
		name    string
		problem Problem
		want    string
	}{
		{"value", Problem{Path: "services[0].checks[1].timeout", Value: "500", Rule: "missing unit, such as 500ms"},
			`services[0].checks[1].timeout: "500": missing unit, such as 500ms`},
		{"no value", Problem{Path: "bgp.asn", Rule: "missing"}, `bgp.asn: missing`},
		{"empty value", Problem{Path: "node", Empty: true, Rule: "wrong"}, `node: "": wrong`},
		{"odd value", Problem{Path: "node", Value: "a\nb\"", Rule: "wrong"}, `node: "a\nb\"": wrong`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.problem.Error(); got != tt.want {
				t.Errorf("unexpected line:\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestRoutes checks what a service announces.
func TestRoutes(t *testing.T) {
	s := everything().Services
	if got := s[0].Routes(); !reflect.DeepEqual(got, s[0].Announce) {
		t.Errorf("with announce: %v", got)
	}
	if got := s[1].Routes(); !reflect.DeepEqual(got, s[1].Addresses) {
		t.Errorf("without announce: %v", got)
	}
}
