package main

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"recuse/agent/control"
)

// TestStatusCodes gives every answer that an agent can give.
func TestStatusCodes(t *testing.T) {
	with := func(stances ...string) control.Status {
		var st control.Status
		for _, s := range stances {
			st.Services = append(st.Services, control.Service{Stance: s})
		}
		return st
	}
	tests := []struct {
		name   string
		code   int // of HTTP
		answer any
		want   int
	}{
		{"every service announced", http.StatusOK, with("announced", "announced"), exitOK},
		{"one depreferred", http.StatusOK, with("announced", "depreferred"), exitNotAnnounced},
		{"one withdrawn", http.StatusOK, with("withdrawn", "announced"), exitNotAnnounced},
		{"an agent that does not decide", http.StatusServiceUnavailable,
			map[string]string{"error": "stuck"}, exitBox},
		{"something else", http.StatusOK, "hello", exitBox},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), "sock")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.code)
			_ = json.NewEncoder(w).Encode(tt.answer)
		})}
		go func() { _ = srv.Serve(l) }()
		for _, flag := range []string{"--json", "--json=false"} {
			if got := run([]string{"status", "--socket", path, flag}); got != tt.want {
				t.Errorf("%s, %s: got exit code %d, want %d", tt.name, flag, got, tt.want)
			}
		}
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	}
}
