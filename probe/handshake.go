package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// HandshakeError is a TLS handshake that the server, not the network, made
// fail. Somebody is there, and no client can use it.
type HandshakeError struct {
	text    string
	cause   Cause
	expires time.Time // of the certificate, if one was shown
}

// Error returns what is wrong.
func (e *HandshakeError) Error() string { return e.text }

// result returns what the error means for a probe.
func (e *HandshakeError) result() Result {
	return Result{Cause: e.cause, Outcome: e.text, Alive: true, Expires: e.expires}
}

// Handshake makes conn a TLS connection to the server called name and judges
// the server's certificate. The name of the Trust goes before that one. The
// server may choose among the protocols, if any (RFC 7301). If the handshake
// fails, conn is left to the caller; what the server did wrong comes as a
// *HandshakeError.
func (v *Verifier) Handshake(ctx context.Context, conn net.Conn, name string, protocols ...string) (*tls.Conn, error) {
	if v.trust.ServerName != "" {
		name = v.trust.ServerName
	}
	c := tls.Client(conn, &tls.Config{
		ServerName: name,
		NextProtos: protocols,
		// Nothing is skipped: judge does it, for all the ways of a Trust, and says
		// what was wrong in words. There is no session cache, so every handshake
		// shows the certificate.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			return v.judge(s.PeerCertificates, name, time.Now())
		},
	})
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, handshakeError(ctx, err)
	}
	return c, nil
}

// Expires returns when the certificate of the server of c ends.
func Expires(c *tls.Conn) time.Time {
	if shown := c.ConnectionState().PeerCertificates; len(shown) > 0 {
		return shown[0].NotAfter
	}
	return time.Time{}
}

// handshakeError parts what the network did, which is returned as it is, from
// what the server did.
func handshakeError(ctx context.Context, err error) error {
	if text, refused := refusedTLS(err); refused {
		return &HandshakeError{cause: Wrong, text: text}
	}
	if _, known := Failure(ctx, err); known || ctx.Err() != nil {
		return err
	}
	return &HandshakeError{cause: Wrong, text: "TLS handshake failed: " + trimmed(err.Error())}
}

// refusedTLS says so if err is that the server speaks no TLS, or its word that
// it will not go on (RFC 8446 section 6). In TLS 1.3 that may come as late as
// with the first read.
func refusedTLS(err error) (string, bool) {
	if errors.As(err, new(tls.RecordHeaderError)) {
		return "the server does not speak TLS", true
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return "TLS refused by the server: " + trimmed(op.Err.Error()), true
	}
	return "", false
}

// trimmed returns the text of an error of package tls without its prefix.
func trimmed(text string) string { return Printable(strings.TrimPrefix(text, "tls: "), 200) }

// judge returns a *HandshakeError unless the certificates that a server called
// name has shown, its own first, are right at the time now.
func (v *Verifier) judge(shown []*x509.Certificate, name string, now time.Time) error {
	if len(shown) == 0 {
		return &HandshakeError{cause: Wrong, text: "the server shows no certificate"}
	}
	if v.trust.Insecure {
		return nil
	}
	leaf := shown[0]
	wrong := func(text string) error {
		return &HandshakeError{cause: Wrong, text: text, expires: leaf.NotAfter}
	}
	if text := dated(leaf, now); text != "" {
		return wrong(text)
	}
	if len(v.pins) > 0 {
		if !v.pinned(leaf) {
			return wrong(fmt.Sprintf("the server's key is not a pinned one, its pin is %v", pinOf(leaf)))
		}
		if v.roots == nil {
			return nil
		}
	} else if leaf.VerifyHostname(name) != nil {
		return wrong(misnamed(leaf, name))
	}
	return v.chain(shown, now)
}

// dated says so if the time now is outside of the certificate's.
func dated(c *x509.Certificate, now time.Time) string {
	const form = "2006-01-02 15:04 MST"
	switch {
	case now.After(c.NotAfter):
		return "certificate expired on " + c.NotAfter.UTC().Format(form)
	case now.Before(c.NotBefore):
		return fmt.Sprintf("certificate not valid before %s, and the clock of this box says %s",
			c.NotBefore.UTC().Format(form), now.UTC().Format(form))
	}
	return ""
}

// misnamed says which names the certificate is for instead.
func misnamed(c *x509.Certificate, name string) string {
	names := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return fmt.Sprintf("certificate is not for %s: it names no server", name)
	}
	return fmt.Sprintf("certificate is not for %s but for %s", name, Printable(strings.Join(names, ", "), 150))
}

// chain judges by whom the certificate was made.
func (v *Verifier) chain(shown []*x509.Certificate, now time.Time) error {
	between := x509.NewCertPool()
	for _, c := range shown[1:] {
		between.AddCert(c)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: v.roots, Intermediates: between, CurrentTime: now})
	if err == nil {
		return nil
	}
	fault := &HandshakeError{cause: Wrong, expires: shown[0].NotAfter}
	switch {
	case errors.As(err, new(x509.SystemRootsError)):
		fault.cause, fault.text = Unmade, "this box knows no certificate authorities (ca-certificates is missing); name a CA file"
	case errors.As(err, new(x509.UnknownAuthorityError)):
		fault.text = "certificate is of an authority that is not trusted: " + Printable(shown[0].Issuer.String(), 100)
	default:
		fault.text = "certificate is not valid: " + Printable(strings.TrimPrefix(err.Error(), "x509: "), 200)
	}
	return fault
}
