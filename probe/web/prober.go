package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"recuse/probe"
)

const (
	// bodyMax is within how much of the body a text must occur.
	bodyMax = 5120
	// headerMax bounds the head of an answer.
	headerMax = 64 << 10
	// hopsMax is how many redirects are followed.
	hopsMax = 5
	// agentName is how a probe calls itself.
	agentName = "recuse"
)

// Probe asks for the page once and judges the answer. It returns by the
// deadline of ctx.
func (p *Prober) Probe(ctx context.Context) probe.Result {
	sent := time.Now()
	v := &visit{Prober: p}
	return v.get(ctx).Ended(sent)
}

// visit is one probe under way.
type visit struct {
	*Prober
	at string // the last redirect that is followed; "" before the first
}

// get asks for the page, and for what it leads to if redirects are followed.
func (v *visit) get(ctx context.Context) probe.Result {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url, nil)
	if err != nil {
		return probe.Result{Outcome: probe.Printable(err.Error(), 200)}
	}
	req.Header.Set("User-Agent", agentName)
	transport := v.transport()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: v.redirect}
	resp, err := client.Do(req)
	if err != nil {
		return v.failed(ctx, err)
	}
	defer resp.Body.Close()
	res := v.judge(ctx, resp)
	res.Expires = expires(resp)
	return res
}

// expires returns when the certificate of the page's own server ends, which a
// redirect may have led away from.
func expires(resp *http.Response) time.Time {
	for resp.Request.Response != nil {
		resp = resp.Request.Response
	}
	if resp.TLS == nil || len(resp.TLS.PeerCertificates) == 0 {
		return time.Time{}
	}
	return resp.TLS.PeerCertificates[0].NotAfter
}

// transport returns what makes the connections of one visit, and of no other.
func (p *Prober) transport() *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialContext:            p.dial,
		DialTLSContext:         p.dialTLS,
		Protocols:              &protocols,
		DisableKeepAlives:      true,
		DisableCompression:     true, // the first bytes are to be those of the text
		MaxResponseHeaderBytes: headerMax,
	}
}

// dial connects to where addr leads.
func (p *Prober) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if addr == p.as {
		addr = p.host
	}
	var d net.Dialer
	d.SetMultipathTCP(false)
	return d.DialContext(ctx, "tcp", addr)
}

// dialTLS connects to where addr leads and judges the certificate there.
func (p *Prober) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := p.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	name, _, err := net.SplitHostPort(addr)
	if err != nil {
		name = addr
	}
	c, err := p.verifier.Handshake(ctx, conn, name, "h2", "http/1.1")
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

// redirect lets a redirect be followed, or makes it the answer.
func (v *visit) redirect(next *http.Request, via []*http.Request) error {
	if !v.config.Follow {
		return http.ErrUseLastResponse
	}
	v.at = next.URL.Redacted()
	if len(via) > hopsMax {
		return errTooFar
	}
	return nil
}

// errTooFar ends a row of redirects.
var errTooFar = fmt.Errorf("still redirected after %d redirects", hopsMax)

// failed returns what an error instead of an answer means.
func (v *visit) failed(ctx context.Context, err error) probe.Result {
	res := classify(ctx, err)
	if v.at == "" {
		return res
	}
	// The server of the page is there; what it leads to is not.
	res.Alive = true
	if res.Cause == probe.Refused {
		res.Cause = probe.Wrong
	}
	res.Outcome = fmt.Sprintf("redirected to %s: %s", probe.Printable(v.at, 150), res.Outcome)
	return res
}

// classify returns what an error of the client means.
func classify(ctx context.Context, err error) probe.Result {
	var lookup *net.DNSError
	switch {
	case errors.Is(err, errTooFar):
		return probe.Result{Cause: probe.Wrong, Outcome: errTooFar.Error(), Alive: true}
	case errors.As(err, &lookup) && !errors.Is(ctx.Err(), context.Canceled):
		return probe.Result{Outcome: fmt.Sprintf("failed to look up %s: %s; use an address, and server_name for the name",
			probe.Printable(lookup.Name, 100), lookup.Err)}
	}
	return probe.AnswerFailure(ctx, err, "HTTP")
}

// judge returns what an answer shows.
func (v *visit) judge(ctx context.Context, resp *http.Response) probe.Result {
	text := status(resp.StatusCode)
	wrong := func(text string) probe.Result {
		return probe.Result{Cause: probe.Wrong, Outcome: text, Alive: true}
	}
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		text += " to " + probe.Printable(to, 150)
	}
	switch {
	case !slices.Contains(v.config.Status, resp.StatusCode):
		return wrong(text)
	case v.config.Body == "":
		return probe.Result{Cause: probe.Passed, Outcome: text, Alive: true}
	}
	found, err := within(resp.Body, v.config.Body)
	if err != nil {
		// The head of the answer came, so somebody is alive.
		res := classify(ctx, err)
		res.Alive, res.Outcome = true, fmt.Sprintf("%s, then %s", text, res.Outcome)
		return res
	}
	if !found {
		return wrong(fmt.Sprintf("%s without %q in its first %d bytes", text, v.config.Body, bodyMax))
	}
	return probe.Result{Cause: probe.Passed, Outcome: text, Alive: true}
}

// status returns a status code with its usual words, not with the server's.
func status(code int) string {
	if words := http.StatusText(code); words != "" {
		return fmt.Sprintf("%d %s", code, words)
	}
	return fmt.Sprintf("%d", code)
}

// within reads no further than it must to find text in the beginning of r.
func within(r io.Reader, text string) (bool, error) {
	got := make([]byte, 0, bodyMax)
	for len(got) < bodyMax {
		n, err := r.Read(got[len(got):bodyMax])
		got = got[:len(got)+n]
		switch {
		case bytes.Contains(got, []byte(text)):
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return false, nil
}
