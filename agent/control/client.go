package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"syscall"
)

// ErrNoDaemon tells that nobody listens on the socket.
var ErrNoDaemon = errors.New("no agent is running")

// Client speaks to a running agent.
type Client struct {
	path string
	http *http.Client
}

// NewClient makes a client for the socket at path. Nothing is opened yet.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &Client{path: path,
		http: &http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// Status asks for the state of everything. The error is ErrNoDaemon if no
// agent listens.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var st Status
	return st, c.get(ctx, "/v1/status", &st)
}

// get fetches one answer.
func (c *Client) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://recuse"+path, nil)
	if err != nil {
		return fmt.Errorf("failed to make the request: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.explain(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var f failure
		if err := json.NewDecoder(resp.Body).Decode(&f); err != nil {
			return fmt.Errorf("the agent answered %s", resp.Status)
		}
		return errors.New(f.Error)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("failed to read the agent's answer: %w", err)
	}
	return nil
}

// explain sorts the errors of dialling into those a user can act on.
func (c *Client) explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: nobody listens on %s", ErrNoDaemon, c.path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no permission for %s: be root or in the group of "+
			"control.group", c.path)
	}
	return fmt.Errorf("failed to ask the agent on %s: %w", c.path, err)
}
