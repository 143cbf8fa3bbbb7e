package load

import "time"

// place is where a conversation belongs: a lookup and a server of its list. The
// number of the lookup's slot is used again, so its generation belongs to it.
type place struct {
	lookup     int32
	generation uint32
	server     uint8
}

// request is one question to one server.
type request struct {
	place
	client int32
	entry  int32  // of the mix
	random uint64 // fills the random labels
	stream bool   // over TCP, for the answer over UDP was truncated
}

// state is how a conversation with a server stands.
type state uint8

// The states of a conversation.
const (
	idle    state = iota // never asked
	waiting              // asked
	answered
	refused
	broken
	unsent
	spilled // waiting, but an answer may have found no room
)

// carrier is a Via as a number.
type carrier uint8

// The carriers, and what records call them.
const (
	byUDP carrier = iota + 1
	byTCP
	byTLS
)

// vias are the carriers' names.
var vias = [...]Via{byUDP: ViaUDP, byTCP: ViaTCP, byTLS: ViaTLS}

// talk is a lookup's conversation with one server: at most one port or
// connection.
type talk struct {
	state   state
	via     carrier
	channel int32 // the wire's socket or connection, plus one; 0: none
	id      uint16
	port    uint16
	rcode   uint16
	node    uint16 // names.text of the node that answered
	err     uint16 // names.text of what went wrong
}

// event is what a wire tells.
type event struct {
	place
	state     state // answered, refused, broken, unsent; idle: only resets count
	at        time.Duration
	rcode     uint16
	truncated bool // and so to be asked again over TCP
	node, err uint16
	resets    uint8
	port      uint16
}

// wire carries questions to servers and what comes back.
type wire interface {
	// send asks a server, from the talk's port if it has one. The error says why
	// it could not: see own.
	send(t *talk, r request) error
	// silence tells that nothing came in the time that the stub waits for.
	silence(t *talk, p place)
	// drop ends a talk: its port or connection is no longer wanted by it.
	drop(t *talk, p place)
	// wait returns what came, at the latest at a moment counted from the run's
	// start, in the memory of into.
	wait(until time.Duration, into []event) []event
	// wake makes wait return early; any goroutine may call it.
	wake()
	close()
}
