package bfd

import "fmt"

// Trouble says in a clause why the session is most likely not up, judged by
// all that was sent and received, or "" if it is up.
func (s Status) Trouble() string {
	switch {
	case s.State == Up:
		return ""
	case s.State == AdminDown:
		return "it is taken down from our side"
	case s.RemoteDiscriminator != 0:
		return s.heardTrouble()
	case s.SendErrors > 0 && s.Sent == 0:
		return "nothing can be sent: " + s.LastSendError
	}
	if why := s.refusedTrouble(); why != "" {
		return why
	}
	switch {
	case s.LastRefused.After(s.LastHeard):
		return fmt.Sprintf("the peer refuses UDP port %d: it runs no BFD", s.port())
	case s.Received == 0:
		return fmt.Sprintf("the peer was never heard: it has no BFD session with %v, "+
			"or a firewall drops UDP port %d", s.us(), s.port())
	}
	since := s.LastHeard.Format("15:04:05")
	if n := len(s.History); n > 0 && s.History[n-1].Reason == ReasonPeerAdminDown {
		return "the peer's operator has taken it down; its last word was at " + since
	}
	return "the peer has not been heard since " + since
}

// heardTrouble is Trouble while the peer is heard.
func (s Status) heardTrouble() string {
	switch {
	case s.RemoteState == AdminDown:
		return "the peer's operator has taken it down"
	case s.Withheld > 0 && s.Sent == 0:
		return "nothing is sent, since this process is not alive enough to promise anything"
	}
	return fmt.Sprintf("the peer is heard, but does not hear us: it has no BFD session with %v, "+
		"or a firewall drops UDP port %d on the way to it", s.us(), s.port())
}

// discardTroubles says what a refused packet tells of the peer's settings.
var discardTroubles = map[Discard]string{
	DiscardTTL: "its packets come from farther away than allowed: " +
		"the peer is not on our link, or sends with a low TTL",
	DiscardAuthMissing:    "the peer does not authenticate its packets",
	DiscardAuthUnexpected: "the peer authenticates its packets, and we have no key",
	DiscardAuthType:       "the peer uses another type of authentication",
	DiscardAuthKey:        "the peer uses a key ID that we do not have",
	DiscardAuthLength:     "the peer uses another secret",
	DiscardAuthDigest:     "the peer uses another secret",
	DiscardAuthSequence: "the peer's sequence numbers do not follow, as after its restart: " +
		"this ends after twice the detection time",
}

// refusedTrouble tells why we refuse what the peer sends, "" if we do not.
func (s Status) refusedTrouble() string {
	if s.LastHeard.After(s.LastDiscarded) {
		return ""
	}
	return discardTroubles[s.LastDiscard]
}

// port returns the UDP port of the session.
func (s Status) port() int { return endpoint{multihop: s.Multihop}.port() }

// us returns our address as the peer must know it.
func (s Status) us() string {
	if s.Local.IsValid() {
		return s.Local.String()
	}
	return "our address"
}
