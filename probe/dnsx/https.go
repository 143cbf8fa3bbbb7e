package dnsx

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"recuse/probe"
)

const (
	// messageType is the media type of a DNS message (RFC 8484 section 6).
	messageType = "application/dns-message"
	// messageMax is the size of the largest DNS message.
	messageMax = 65535
	// headMax bounds the head of an HTTP answer.
	headMax = 64 << 10
)

// overHTTPS sends the query over a new connection that is judged by trust, and
// reads one answer (RFC 8484). It is a POST, which no cache on the way answers;
// the server chooses between HTTP/2 and HTTP/1.1. Redirects are not followed.
func overHTTPS(ctx context.Context, q query, trust *probe.Verifier) finding {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url(), bytes.NewReader(q.wire))
	if err != nil {
		return unmade(probe.Printable(err.Error(), 200))
	}
	req.Header.Set("Content-Type", messageType)
	req.Header.Set("Accept", messageType)
	req.Header.Set("User-Agent", "recuse")
	transport := q.transport(trust)
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fromResult(probe.AnswerFailure(ctx, err, "HTTP"))
	}
	defer resp.Body.Close()
	f := q.readHTTP(ctx, resp)
	f.expires = expiry(resp)
	return f
}

// url returns what is asked for: the server's name if it has one, else its
// address.
func (q query) url() string {
	host := q.Server.Addr.Addr().String()
	if name := q.Trust.ServerName; name != "" {
		host = name
	}
	if strings.Contains(host, ":") {
		// A zone has no place in an authority, and means nothing to the server.
		host, _, _ = strings.Cut(host, "%")
		host = "[" + host + "]"
	}
	if port := q.Server.Addr.Port(); port != defaultHTTPSPort {
		host = fmt.Sprintf("%s:%d", host, port)
	}
	path := q.Server.Path
	if path == "" {
		path = defaultPath
	}
	return "https://" + host + path
}

// transport returns what makes the one connection of this query. Whatever the
// URL says, it goes to the server's address.
func (q query) transport(trust *probe.Verifier) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			raw, err := dialTCP(ctx, q)
			if err != nil {
				return nil, err
			}
			conn, err := trust.Handshake(ctx, raw, q.Server.Addr.Addr().String(), "h2", "http/1.1")
			if err != nil {
				raw.Close()
				return nil, err
			}
			return conn, nil
		},
		Protocols:              &protocols,
		DisableKeepAlives:      true, // one that is kept would hide a listener that is gone
		DisableCompression:     true,
		MaxResponseHeaderBytes: headMax,
	}
}

// readHTTP says what an HTTP answer shows.
func (q query) readHTTP(ctx context.Context, resp *http.Response) finding {
	if resp.StatusCode != http.StatusOK {
		return wrong(strings.TrimSpace(fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))))
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != messageType {
		return wrong(fmt.Sprintf("HTTP 200 with %q instead of %s",
			probe.Printable(resp.Header.Get("Content-Type"), 60), messageType))
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, messageMax+1))
	if err != nil {
		f := fromResult(probe.AnswerFailure(ctx, err, "HTTP"))
		f.alive, f.text = true, "HTTP 200, then "+f.text
		return f
	}
	if len(raw) > messageMax {
		return wrong("malformed answer")
	}
	if f, ok := q.read(raw, q.Server.Addr); ok {
		return f
	}
	return wrong("an answer to another question")
}

// expiry returns when the certificate of the server ends that gave an answer.
func expiry(resp *http.Response) time.Time {
	if resp.TLS == nil || len(resp.TLS.PeerCertificates) == 0 {
		return time.Time{}
	}
	return resp.TLS.PeerCertificates[0].NotAfter
}
