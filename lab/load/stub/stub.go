// Package stub models how the stub resolvers of client systems ask: whom, how
// often, and when they give up.
package stub

import "time"

// MaxServers is how many servers a stub can have been given.
const MaxServers = 8

// NoneTimeout is how long the stub that does not retry waits.
const NoneTimeout = 2 * time.Second

// Model is a kind of stub resolver.
type Model struct {
	Name string
	// New makes the stub of one client that was given so many servers.
	New func(servers int) Stub
}

// Stub is the stub resolver of one client.
type Stub interface {
	Timeout() time.Duration
}

type none time.Duration

func (n none) Timeout() time.Duration { return time.Duration(n) }

// None asks the first server once and waits.
func None(timeout time.Duration) Model {
	return Model{Name: "none", New: func(int) Stub { return none(timeout) }}
}
