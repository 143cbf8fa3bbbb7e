package dnsx

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"time"

	"recuse/probe"
)

// overTCP sends the query over a new connection and reads one answer
// (RFC 7766).
//
// After a timeout the connection stays open for an answer that comes late.
func overTCP(ctx context.Context, q query) (finding, probe.Late) {
	sent := time.Now()
	conn, err := dialTCP(ctx, q)
	if err != nil {
		return fromError(ctx, err), nil
	}
	return orLater(askTCP(ctx, q, conn), conn, sent)
}

// orLater closes the connection on which the finding was made, or returns what
// waits on it for an answer that comes late.
func orLater(f finding, conn net.Conn, sent time.Time) (finding, probe.Late) {
	if f.cause != probe.Silent {
		conn.Close()
		return f, nil
	}
	return f, func(ctx context.Context) string {
		defer conn.Close()
		defer expire(ctx, conn)()
		// Its first byte is as good a sign of life as the whole.
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return ""
		}
		return tooLate(wrong("an answer over TCP"), sent)
	}
}

// askTCP sends the query over conn and reads one answer.
func askTCP(ctx context.Context, q query, conn net.Conn) finding {
	defer expire(ctx, conn)()
	raw, err := exchange(conn, q.wire)
	if err != nil {
		return fromError(ctx, err)
	}
	if f, ok := q.read(raw, q.Server.Addr); ok {
		return f
	}
	return wrong("an answer to another question")
}

// dialTCP connects to the server, from the local address if one is set.
func dialTCP(ctx context.Context, q query) (net.Conn, error) {
	var d net.Dialer
	if q.Local.IsValid() {
		d.LocalAddr = &net.TCPAddr{IP: q.Local.AsSlice(), Zone: q.Local.Zone()}
	}
	d.SetMultipathTCP(false)
	return d.DialContext(ctx, "tcp", q.Server.Addr.String())
}

// exchange writes one message and reads one, each after its length in two
// bytes (RFC 1035 section 4.2.2).
func exchange(conn io.ReadWriter, wire []byte) ([]byte, error) {
	framed := binary.BigEndian.AppendUint16(make([]byte, 0, len(wire)+2), uint16(len(wire)))
	if _, err := conn.Write(append(framed, wire...)); err != nil {
		return nil, err
	}
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	raw := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, raw); err != nil {
		return nil, err
	}
	return raw, nil
}
