package probe

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Trust says how a TLS server proves to be the right one. The zero value asks
// what a browser would: a certificate of an authority that this box knows, for
// the name or address that was asked, and neither too old nor too young.
type Trust struct {
	// ServerName is the name that the server is asked for and that its
	// certificate must hold; an address may be one. Empty: the address asked.
	ServerName string
	// CA is the PEM text of the only authorities that count. Empty: those of the
	// box.
	CA string
	// Pins are the SHA-256 of the public keys that the server may have, in
	// base64 (RFC 7858 section 4.2). With a pin the certificate's name does not
	// matter, and its authority only if CA is set; its dates do.
	Pins []string
	// Insecure takes any certificate.
	Insecure bool
}

// IsZero tells whether nothing is set.
func (t Trust) IsZero() bool {
	return t.ServerName == "" && t.CA == "" && len(t.Pins) == 0 && !t.Insecure
}

// pin is the SHA-256 of a certificate's subject public key info.
type pin [sha256.Size]byte

// String returns the pin as a configuration has it.
func (p pin) String() string { return base64.StdEncoding.EncodeToString(p[:]) }

// pinOf returns the pin of a certificate.
func pinOf(c *x509.Certificate) pin { return sha256.Sum256(c.RawSubjectPublicKeyInfo) }

// CheckPin returns an error that says the rule unless text is a pin.
func CheckPin(text string) error {
	_, err := parsePin(text)
	return err
}

// parsePin reads a pin, with or without the sha256/ or sha256// that some tools
// write before it. A pin may itself begin with a slash.
func parsePin(text string) (pin, error) {
	text, marked := strings.CutPrefix(text, "sha256/")
	if marked && len(text) > base64.StdEncoding.EncodedLen(sha256.Size) {
		text = strings.TrimPrefix(text, "/")
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != sha256.Size {
		return pin{}, errors.New("not a pin, which is the SHA-256 of the server's public key in base64, 44 characters")
	}
	return pin(raw), nil
}

// CheckCA returns an error that says the rule unless text holds certificates.
func CheckCA(text string) error {
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		return errors.New("holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)")
	}
	return nil
}

// Verifier judges the certificates of servers by a Trust. It is safe for
// concurrent use.
type Verifier struct {
	trust Trust
	roots *x509.CertPool // nil: those of the box
	pins  []pin
}

// NewVerifier returns the verifier for t, or an error that says which rule t
// breaks.
func NewVerifier(t Trust) (*Verifier, error) {
	v := &Verifier{trust: t}
	if t.Insecure && (t.CA != "" || len(t.Pins) > 0) {
		return nil, errors.New("insecure takes any certificate, so it excludes authorities and pins")
	}
	for _, text := range t.Pins {
		p, err := parsePin(text)
		if err != nil {
			return nil, fmt.Errorf("pin: %q: %w", text, err)
		}
		v.pins = append(v.pins, p)
	}
	if t.CA != "" {
		if err := CheckCA(t.CA); err != nil {
			return nil, fmt.Errorf("authorities: %w", err)
		}
		v.roots = x509.NewCertPool()
		v.roots.AppendCertsFromPEM([]byte(t.CA))
	}
	return v, nil
}

// pinned tells whether a certificate has one of the pins.
func (v *Verifier) pinned(c *x509.Certificate) bool { return slices.Contains(v.pins, pinOf(c)) }
