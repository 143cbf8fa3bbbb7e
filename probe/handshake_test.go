package probe

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/probe/probetest"
)

// patience is the deadline of handshakes that end by themselves.
const patience = 10 * time.Second

// over makes a handshake with a server of the configuration and returns what a
// probe would make of it.
func over(t *testing.T, server *tls.Config, trust Trust, name string) Result {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		// What the server makes of it is not what is tested.
		_ = c.(*tls.Conn).Handshake()
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return outcome(t, conn, trust, name)
}

// outcome makes a handshake over a connection.
func outcome(t *testing.T, conn net.Conn, trust Trust, name string) Result {
	t.Helper()
	v, err := NewVerifier(trust)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := v.Handshake(ctx, conn, name)
	if err != nil {
		res, known := Failure(ctx, err)
		if !known {
			t.Errorf("the error is not known: %v", err)
		}
		return res
	}
	return Result{Cause: Passed, Outcome: "well", Expires: Expires(c)}
}

// TestHandshake proves which certificates are taken, and what is said of those
// that are not.
func TestHandshake(t *testing.T) {
	ours, other := probetest.NewAuthority(t), probetest.NewAuthority(t)
	day := func(n int) time.Time { return time.Now().Add(time.Duration(n) * 24 * time.Hour) }
	good := ours.Issue(t, probetest.Leaf{Names: []string{"dns.example", "127.0.0.1", "10.1.9.53"}})
	old := ours.Issue(t, probetest.Leaf{Names: []string{"dns.example"}, From: day(-9), Until: day(-3)})
	young := ours.Issue(t, probetest.Leaf{Names: []string{"dns.example"}, From: day(3), Until: day(9)})
	client := ours.Issue(t, probetest.Leaf{Names: []string{"dns.example"}, Client: true})
	nameless := ours.Issue(t, probetest.Leaf{})
	pin, otherPin := probetest.Pin(t, good), probetest.Pin(t, old)
	ca := func(name string) Trust { return Trust{CA: ours.PEM(), ServerName: name} }
	tests := []struct {
		name   string
		cert   tls.Certificate
		trust  Trust
		asked  string
		wanted string // "" for a pass; the beginning of the outcome
	}{
		{"by name", good, ca("dns.example"), "127.0.0.1", ""},
		{"by name, other case", good, ca("DNS.Example"), "127.0.0.1", ""},
		{"by the address asked", good, ca(""), "127.0.0.1", ""},
		{"by another address", good, ca("10.1.9.53"), "127.0.0.1", ""},
		{"wrong name", good, ca("web.example"), "127.0.0.1",
			"certificate is not for web.example but for dns.example, 127.0.0.1, 10.1.9.53"},
		{"wrong address", good, ca(""), "127.0.0.2", "certificate is not for 127.0.0.2 but for dns.example"},
		{"no name", nameless, ca("dns.example"), "", "certificate is not for dns.example: it names no server"},
		{"expired", old, ca("dns.example"), "", "certificate expired on " + old.Leaf.NotAfter.UTC().Format("2006-01-02 15:04 UTC")},
		{"not yet valid", young, ca("dns.example"), "", "certificate not valid before " +
			young.Leaf.NotBefore.UTC().Format("2006-01-02 15:04 UTC") + ", and the clock of this box says "},
		{"for clients", client, ca("dns.example"), "", "certificate is not valid: certificate specifies an incompatible key usage"},
		{"other authority", good, Trust{CA: other.PEM(), ServerName: "dns.example"}, "",
			"certificate is of an authority that is not trusted: CN=test authority"},
		{"two authorities", good, Trust{CA: other.PEM() + ours.PEM(), ServerName: "dns.example"}, "", ""},
		{"authority of the box", good, Trust{ServerName: "dns.example"}, "", "certificate is of an authority that is not trusted"},
		{"pin", good, Trust{Pins: []string{pin}}, "web.example", ""},
		{"one of two pins", good, Trust{Pins: []string{otherPin, "sha256//" + pin}}, "web.example", ""},
		{"wrong pin", good, Trust{Pins: []string{otherPin}}, "dns.example", "the server's key is not a pinned one, its pin is " + pin},
		{"pin, expired", old, Trust{Pins: []string{otherPin}}, "", "certificate expired on "},
		{"pin and authority", good, Trust{Pins: []string{pin}, CA: ours.PEM()}, "web.example", ""},
		{"pin, wrong authority", good, Trust{Pins: []string{pin}, CA: other.PEM()}, "",
			"certificate is of an authority that is not trusted"},
		{"insecure", old, Trust{Insecure: true}, "web.example", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := over(t, &tls.Config{Certificates: []tls.Certificate{tt.cert}}, tt.trust, tt.asked)
			expected := Result{Cause: Wrong, Outcome: got.Outcome, Alive: true, Expires: tt.cert.Leaf.NotAfter}
			if tt.wanted == "" {
				expected = Result{Cause: Passed, Outcome: "well", Expires: tt.cert.Leaf.NotAfter}
			}
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Errorf("unexpected result (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(got.Outcome, tt.wanted) {
				t.Errorf("got %q, want %q", got.Outcome, tt.wanted)
			}
		})
	}
}

// TestHandshakeServers proves what is said of servers that do not get as far
// as a certificate.
func TestHandshakeServers(t *testing.T) {
	tests := []struct {
		name  string
		serve func(net.Conn)
		want  string
	}{
		{"speaks something else", func(c net.Conn) { _, _ = c.Write([]byte("220 mail.example ESMTP\r\n")) },
			"the server does not speak TLS"},
		{"hangs up", func(net.Conn) {}, "connection closed without an answer"},
		{"resets", func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }, "connection closed without an answer"},
		{"refuses", func(c net.Conn) { _, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 40}) },
			"TLS refused by the server: handshake failure"},
		{"nonsense", func(c net.Conn) { _, _ = c.Write([]byte{22, 3, 3, 0, 4, 9, 0, 0, 0}) },
			"TLS handshake failed: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				_, _ = c.Read(make([]byte, 4096))
				tt.serve(c)
			}()
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			got := outcome(t, conn, Trust{Insecure: true}, "dns.example")
			if got.Cause != Wrong || !got.Alive || !strings.HasPrefix(got.Outcome, tt.want) {
				t.Errorf("got %+v, want %q", got, tt.want)
			}
		})
	}
}

// TestHandshakeSilent proves that a server which accepts and says nothing is a
// timeout, and that an ended probe is no one's fault.
func TestHandshakeSilent(t *testing.T) {
	v, err := NewVerifier(Trust{})
	if err != nil {
		t.Fatal(err)
	}
	expired, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for ctx, want := range map[context.Context]Result{
		expired:   {Cause: Silent, Outcome: "timeout"},
		cancelled: {Outcome: "the probe was ended"},
	} {
		ours, theirs := net.Pipe()
		go func() { _, _ = theirs.Read(make([]byte, 4096)) }()
		_, err := v.Handshake(ctx, ours, "dns.example")
		got, _ := Failure(ctx, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("unexpected result (-want +got):\n%s", diff)
		}
		_, _ = ours.Close(), theirs.Close()
	}
}

// TestVerifierErrors proves that settings that exclude each other or are none
// are refused.
func TestVerifierErrors(t *testing.T) {
	const rule = "not a pin, which is the SHA-256 of the server's public key in base64, 44 characters"
	good := strings.Repeat("A", 43) + "="
	tests := []struct {
		name  string
		trust Trust
		want  string
	}{
		{"insecure with a pin", Trust{Insecure: true, Pins: []string{good}},
			"insecure takes any certificate, so it excludes authorities and pins"},
		{"insecure with an authority", Trust{Insecure: true, CA: "x"},
			"insecure takes any certificate, so it excludes authorities and pins"},
		{"short pin", Trust{Pins: []string{good, "AAAA"}}, `pin: "AAAA": ` + rule},
		{"hex pin", Trust{Pins: []string{strings.Repeat("0", 64)}}, `pin: "` + strings.Repeat("0", 64) + `": ` + rule},
		{"no PEM", Trust{CA: "x"}, "authorities: holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewVerifier(tt.trust); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	slash := "/" + good[1:]
	for _, text := range []string{good, slash} {
		for _, mark := range []string{"", "sha256/", "sha256//"} {
			if got, err := parsePin(mark + text); err != nil || got.String() != text {
				t.Errorf("%s%s: got %v, error %v", mark, text, got, err)
			}
		}
	}
	if CheckPin("/"+good) == nil || CheckPin(good) != nil {
		t.Error("CheckPin is wrong")
	}
	if !(Trust{}).IsZero() || (Trust{Insecure: true}).IsZero() || (Trust{Pins: []string{""}}).IsZero() {
		t.Error("IsZero is wrong")
	}
}
