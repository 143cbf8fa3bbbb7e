package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	return st, c.call(ctx, http.MethodGet, "/v1/status", nil, &st)
}

// PID is the process that listens on the socket, 0 if it is in another PID
// namespace. The error is ErrNoDaemon if none does.
func (c *Client) PID(ctx context.Context) (int, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.path)
	if err != nil {
		return 0, c.explain(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("failed to reach the socket: %w", err)
	}
	var peer *syscall.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return 0, fmt.Errorf("failed to reach the socket: %w", err)
	}
	if failed != nil {
		return 0, fmt.Errorf("failed to ask who listens on %s: %w", c.path, failed)
	}
	return int(peer.Pid), nil
}

// Drain takes a service out of the routing. It returns when that is done, or
// when it failed because nobody else serves.
func (c *Client) Drain(ctx context.Context, d Drain) error {
	return c.call(ctx, http.MethodPost, "/v1/drain", d, nil)
}

// Undrain takes a drain back.
func (c *Client) Undrain(ctx context.Context, service string) error {
	return c.call(ctx, http.MethodPost, "/v1/undrain", Name{service}, nil)
}

// Resume ends a hold.
func (c *Client) Resume(ctx context.Context, service string) error {
	return c.call(ctx, http.MethodPost, "/v1/resume", Name{service}, nil)
}

// Reload makes the agent read its configuration again.
func (c *Client) Reload(ctx context.Context, r Reload) (Reloaded, error) {
	var done Reloaded
	return done, c.call(ctx, http.MethodPost, "/v1/reload", r, &done)
}

// Events calls f for every remembered event and, if follow is set, for those
// that come until ctx ends.
func (c *Client) Events(ctx context.Context, follow bool,
	f func(Event) error) error {
	path := "/v1/events"
	if follow {
		path += "?follow=1"
	}
	resp, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := json.NewDecoder(resp.Body)
	for {
		var e Event
		switch err := in.Decode(&e); {
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("failed to read the agent's events: %w", err)
		}
		if err := f(e); err != nil {
			return err
		}
	}
}

// call makes one request and reads the answer into a value, if there is one.
func (c *Client) call(ctx context.Context, method, path string, body,
	into any) error {
	resp, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("failed to read the agent's answer: %w", err)
	}
	return nil
}

// send makes one request; an answer that is a failure is an error.
func (c *Client) send(ctx context.Context, method, path string,
	body any) (*http.Response, error) {
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return nil, fmt.Errorf("failed to write the request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://recuse"+path,
		&text)
	if err != nil {
		return nil, fmt.Errorf("failed to make the request: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.explain(err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	var f failure
	if err := json.NewDecoder(resp.Body).Decode(&f); err != nil {
		return nil, fmt.Errorf("the agent answered %s", resp.Status)
	}
	return nil, errors.New(f.Error)
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
