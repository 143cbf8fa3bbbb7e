package load

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// connectTimeout is how long a connection may take to be up, TLS included:
// systemd-resolved's DNS_STREAM_DEFAULT_TIMEOUT_USEC. Stubs give up earlier.
const connectTimeout = 10 * time.Second

// run connects, and then writes until the connection ends.
func (s *stream) run() {
	ctx, cancel := context.WithTimeout(s.life, connectTimeout)
	conn, err := s.connect(ctx)
	cancel()
	if err != nil {
		s.fail(err)
		return
	}
	defer conn.Close()
	s.all.mu.Lock()
	if s.dead {
		s.all.mu.Unlock()
		return
	}
	s.conn = conn
	if a, ok := conn.LocalAddr().(*net.TCPAddr); ok {
		s.port = uint16(a.Port)
	}
	s.all.running.Go(func() { s.fail(s.read(conn)) })
	s.all.mu.Unlock()
	for range s.ready {
		s.all.mu.Lock()
		out, dead := s.out, s.dead
		s.out = nil
		s.all.mu.Unlock()
		if dead {
			return
		}
		if _, err := conn.Write(out); err != nil {
			s.fail(err)
			return
		}
	}
}

// connect makes the connection.
func (s *stream) connect(ctx context.Context) (net.Conn, error) {
	c := &s.all.config
	server := c.Servers[s.line.server]
	conn, err := c.Clients[s.line.client].DialTCP(ctx, server)
	if err != nil || c.Transport != DoT {
		return conn, err
	}
	secure := c.TLS.Clone()
	if secure.ServerName == "" {
		secure.ServerName = server.Addr().String()
	}
	t := tls.Client(conn, secure)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("failed to shake hands: %w", err)
	}
	return t, nil
}

// read takes answers until the connection ends, and returns why it did.
func (s *stream) read(conn io.Reader) error {
	in := bufio.NewReader(conn)
	var m []byte
	for {
		var length [2]byte
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return err
		}
		m = append(m[:0], make([]byte, binary.BigEndian.Uint16(length[:]))...)
		if _, err := io.ReadFull(in, m); err != nil {
			return err
		}
		s.message(m)
	}
}

// message takes one answer.
func (s *stream) message(m []byte) {
	x := s.all
	x.mu.Lock()
	defer x.mu.Unlock()
	s.heard = time.Since(x.start)
	if len(m) < headerSize {
		return
	}
	id := binary.BigEndian.Uint16(m)
	for i, o := range s.pending {
		if o.id != id {
			continue
		}
		if e, ok := answerEvent(x.mix, o.asking, m, x.names, s.heard); ok {
			s.pending = append(s.pending[:i], s.pending[i+1:]...)
			e.truncated, e.port = false, s.port
			x.post(e)
		}
		return
	}
}
