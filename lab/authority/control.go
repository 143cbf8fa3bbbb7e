package authority

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// request is one line from a Client; without a zone it only asks for the state.
type request struct {
	Zone      string       `json:"zone,omitempty"`
	Behaviour Behaviour    `json:"behaviour"`
	Clients   []netip.Addr `json:"clients,omitempty"`
}

// reply is the server's line: the state of all zones, or why it refused.
type reply struct {
	Error string          `json:"error,omitempty"`
	Zones map[string]Zone `json:"zones"`
}

// serveControl answers the clients of the control socket until it is closed.
func (s *Server) serveControl(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go s.control(conn)
	}
}

// control answers one client until it hangs up or talks nonsense.
func (s *Server) control(conn net.Conn) {
	defer conn.Close()
	dec, enc := json.NewDecoder(conn), json.NewEncoder(conn)
	for {
		var req request
		if err := dec.Decode(&req); err != nil {
			return
		}
		var rep reply
		if req.Zone != "" {
			if err := s.state.set(req.Zone, req.Behaviour, req.Clients); err != nil {
				rep.Error = err.Error()
			}
		}
		rep.Zones = s.state.snapshot()
		if err := enc.Encode(rep); err != nil {
			return
		}
	}
}

// Client steers a server through its control socket. It holds no connection.
type Client struct{ Socket string }

// Set gives a zone a behaviour; every query that comes after Set has returned
// is treated so. With clients it is how the zone treats these addresses alone,
// until they are given the zero Behaviour.
func (c Client) Set(ctx context.Context, zone string, b Behaviour, clients ...netip.Addr) error {
	_, err := c.do(ctx, request{Zone: zone, Behaviour: b, Clients: clients})
	return err
}

// Zones returns the state of all zones.
func (c Client) Zones(ctx context.Context) (map[string]Zone, error) {
	return c.do(ctx, request{})
}

// do sends one request and reads its reply.
func (c Client) do(ctx context.Context, req request) (map[string]Zone, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.Socket)
	if err != nil {
		return nil, fmt.Errorf("failed to reach authority: %w", err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, fmt.Errorf("failed to bound request to authority: %w", err)
		}
	}
	var rep reply
	if err := errors.Join(json.NewEncoder(conn).Encode(req), json.NewDecoder(conn).Decode(&rep)); err != nil {
		return nil, fmt.Errorf("failed to ask authority: %w", err)
	}
	if rep.Error != "" {
		return nil, fmt.Errorf("authority refused: %s", rep.Error)
	}
	return rep.Zones, nil
}
