package dnsx

import (
	"context"
	"time"

	"recuse/probe"
)

// overTLS sends the query over a new connection that is judged by trust, and
// reads one answer (RFC 7858). A certificate that is not right ends the probe
// before the question is asked, as it does for every client that looks.
//
// After a timeout the connection stays open for an answer that comes late.
func overTLS(ctx context.Context, q query, trust *probe.Verifier) (finding, probe.Late) {
	sent := time.Now()
	raw, err := dialTCP(ctx, q)
	if err != nil {
		return fromError(ctx, err), nil
	}
	// No protocol is offered: there is none for DNS that servers agree on, and
	// one that knows of none but others would hang up (RFC 7301 section 3.2).
	conn, err := trust.Handshake(ctx, raw, q.Server.Addr.Addr().String())
	if err != nil {
		raw.Close()
		return fromError(ctx, err), nil
	}
	f := askTCP(ctx, q, conn)
	f.expires = probe.Expires(conn)
	return orLater(f, conn, sent)
}
