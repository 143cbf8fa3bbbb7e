package bfd

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTrouble(t *testing.T) {
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := then.Add(time.Second)
	tests := []struct {
		name string
		s    Status
		want string
	}{
		{"up", Status{State: Up, LastDiscard: DiscardTTL}, ""},
		{"ours", Status{State: AdminDown}, "it is taken down from our side"},
		{"theirs", Status{State: Down, RemoteState: AdminDown, RemoteDiscriminator: 1},
			"the peer's operator has taken it down"},
		{"not alive", Status{State: Init, RemoteState: Down, RemoteDiscriminator: 1, Withheld: 3},
			"nothing is sent, since this process is not alive enough to promise anything"},
		{"one way", Status{State: Init, RemoteState: Down, RemoteDiscriminator: 1, Sent: 9, Local: own1},
			"the peer is heard, but does not hear us: it has no BFD session with 192.0.2.11, or a firewall drops UDP port 3784 on the way to it"},
		{"cannot send", Status{State: Down, SendErrors: 1, LastSendError: "no route to host"},
			"nothing can be sent: no route to host"},
		{"no BFD", Status{State: Down, Sent: 5, LastRefused: then}, "the peer refuses UDP port 3784: it runs no BFD"},
		{"BFD has gone", Status{State: Down, Sent: 5, Received: 9, LastHeard: then, LastRefused: later},
			"the peer refuses UDP port 3784: it runs no BFD"},
		{"never heard", Status{State: Down, Sent: 5, Multihop: true},
			"the peer was never heard: it has no BFD session with our address, or a firewall drops UDP port 4784"},
		{"silent again", Status{State: Down, Sent: 5, Received: 9, LastHeard: later, LastRefused: then},
			"the peer has not been heard since 03:04:06"},
		{"silent after its AdminDown", Status{State: Down, Sent: 5, Received: 9, LastHeard: later,
			History: []Event{{From: Init, To: Up, Reason: ReasonHears}, {From: Up, To: Down, Reason: ReasonPeerAdminDown}}},
			"the peer's operator has taken it down; its last word was at 03:04:06"},
		{"silent, and back since its AdminDown", Status{State: Down, Sent: 5, Received: 9, LastHeard: later,
			History: []Event{{From: Up, To: Down, Reason: ReasonPeerAdminDown}, {From: Down, To: Init, Reason: ReasonHeard},
				{From: Init, To: Down, Reason: ReasonExpired}}},
			"the peer has not been heard since 03:04:06"},
		{"another secret", Status{State: Down, Sent: 5, LastDiscard: DiscardAuthDigest, LastDiscarded: then},
			"the peer uses another secret"},
		{"another secret once", Status{State: Down, Sent: 5, Received: 1, LastDiscard: DiscardAuthDigest, LastDiscarded: then, LastHeard: later},
			"the peer has not been heard since 03:04:06"},
		{"discarded since we were down", Status{State: Down, Sent: 5, Received: 0, LastDiscard: DiscardLocallyAdminDown, LastDiscarded: then},
			"the peer was never heard: it has no BFD session with our address, or a firewall drops UDP port 3784"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.s.Trouble()); diff != "" {
				t.Errorf("unexpected trouble (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefusedIsSent: a packet whose sending brought a refusal did leave.
func TestRefusedIsSent(t *testing.T) {
	var r record
	now := time.Now()
	r.sending(fmt.Errorf("wrapped: %w", errRefused), now)
	r.sending(nil, now.Add(1))
	r.sending(errors.New("no"), now.Add(2))
	if r.sent != 2 || r.sendFails != 1 || r.refused != now || r.sendErr.Error() != "no" {
		t.Errorf("sent %d, failed %d, refused %v, error %v", r.sent, r.sendFails, r.refused, r.sendErr)
	}
}
