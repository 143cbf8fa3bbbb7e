package agent

import (
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"recuse/bgp"
)

// agent lets an Agent answer Status without a BGP speaker.
func (w *world) agent() *Agent {
	return &Agent{loop: w.loop, speaker: &bgp.Speaker{}}
}

// get fetches a page.
func get(a *Agent, path string) (int, string) {
	rec := httptest.NewRecorder()
	a.pages().ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
	return rec.Code, rec.Body.String()
}

// TestMetrics compares the whole set of series, values left out where they are
// a matter of luck.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.shows(true)
		code, text := get(w.agent(), "/metrics")
		if code != 200 {
			t.Fatalf("unexpected answer %d: %s", code, text)
		}
		var got []string
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "recuse_") &&
				!regexp.MustCompile(`seconds|info`).MatchString(line) {
				got = append(got, strings.TrimSpace(line))
			}
		}
		slices.Sort(got)
		want := []string{
			`recuse_address_announced{address="192.0.2.53/32",service="dns"} 1`,
			`recuse_address_announced{address="2001:db8:9::53/128",service="dns"} 1`,
			`recuse_address_present{address="192.0.2.53/32",service="dns"} 1`,
			`recuse_address_present{address="2001:db8:9::53/128",service="dns"} 1`,
			`recuse_alarms 0`,
			`recuse_check_consecutive_failures{check="local-name",service="dns"} 0`,
			`recuse_check_consecutive_failures{check="service-path",service="dns"} 0`,
			`recuse_check_level{check="local-name",level="dead",service="dns"} 0`,
			`recuse_check_level{check="local-name",level="ok",service="dns"} 1`,
			`recuse_check_level{check="local-name",level="sick",service="dns"} 0`,
			`recuse_check_level{check="local-name",level="slow",service="dns"} 0`,
			`recuse_check_level{check="local-name",level="unknown",service="dns"} 0`,
			`recuse_check_level{check="service-path",level="dead",service="dns"} 0`,
			`recuse_check_level{check="service-path",level="ok",service="dns"} 0`,
			`recuse_check_level{check="service-path",level="sick",service="dns"} 0`,
			`recuse_check_level{check="service-path",level="slow",service="dns"} 0`,
			`recuse_check_level{check="service-path",level="unknown",service="dns"} 1`,
			`recuse_config_last_reload_successful 1`,
			`recuse_link_trouble{link="anycast0",service="dns"} 0`,
			`recuse_link_up{link="anycast0",service="dns"} 1`,
			`recuse_peer_established{asn="65000",peer="198.51.100.1"} 1`,
			`recuse_service_decisions_total{reason="addresses-answer",service="dns",to="serving"} 1`,
			`recuse_service_decisions_total{reason="checks-passed",service="dns",to="raising"} 1`,
			`recuse_service_drained{service="dns"} 0`,
			`recuse_service_level{level="dead",service="dns"} 0`,
			`recuse_service_level{level="ok",service="dns"} 1`,
			`recuse_service_level{level="sick",service="dns"} 0`,
			`recuse_service_level{level="slow",service="dns"} 0`,
			`recuse_service_level{level="unknown",service="dns"} 0`,
			`recuse_service_nobody_else_serves{service="dns"} 0`,
			`recuse_service_others{service="dns"} 1`,
			`recuse_service_stance{service="dns",stance="announced"} 1`,
			`recuse_service_stance{service="dns",stance="depreferred"} 0`,
			`recuse_service_stance{service="dns",stance="withdrawn"} 0`,
			`recuse_up 1`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("unexpected series (-want +got):\n%s", diff)
		}
	})
}

func TestStatusPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		code, text := get(w.agent(), "/")
		if code != 200 || !strings.Contains(text,
			`<span class="announced">announced</span>`) {
			t.Errorf("unexpected page %d: %s", code, text)
		}
		if code, _ := get(w.agent(), "/nothing"); code != 404 {
			t.Errorf("unexpected answer: %d", code)
		}
	})
}
