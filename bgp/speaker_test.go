package bgp

import (
	"net/netip"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	router := newRawRouter(t, "127.53.0.1")
	s := startSpeaker(t, Config{
		ASN: 65011, RouterID: netip.MustParseAddr("10.1.1.11"), Communities: []string{"65000:53", "65000:7:8"},
		Deprefer: Deprefer{Prepend: 3, MED: 1000}, Peers: []Peer{router.peer(65000)},
	})
	if err := s.Set(routes("10.1.9.53/32", "2001:db8:9::53/128")); err != nil {
		t.Fatal(err)
	}
	c := router.accept()
	c.establish(65000)
	s.established(0)
	for range 2 {
		u := c.nextUpdate()
		t.Logf("%v %v", u.NLRI, u.PathAttributes)
	}
	c.quiet(200 * time.Millisecond)
	t.Log(s.state(0))
	r := routes("10.1.9.53/32", "2001:db8:9::53/128")
	r[0].Depreferred, r[1].Depreferred = true, true
	s.Set(r)
	for range 2 {
		u := c.nextUpdate()
		t.Logf("%v %v", u.NLRI, u.PathAttributes)
	}
	s.Set(nil)
	for range 2 {
		u := c.nextUpdate()
		t.Logf("%v %v %v", u.NLRI, u.WithdrawnRoutes, u.PathAttributes)
	}
	s.Close(t.Context(), "bye")
	n, _ := parseNotification(c.expect(typeNotification))
	t.Log(n)
}
