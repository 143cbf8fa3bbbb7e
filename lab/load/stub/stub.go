package stub

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// MaxServers is how many servers a stub can have been given. Android's own
// limit is 4, glibc's is 3.
const MaxServers = 4

// Model is a kind of stub resolver.
type Model struct {
	Name  string // as a command line has it
	Title string // what it does, in a line
	// New makes the stub of one client that was given so many servers, at least
	// one and at most MaxServers.
	New func(servers int) Stub
}

// Stub is the stub resolver of one client. Its lookups share what it learned.
type Stub interface {
	// Next says what to do about an event of a lookup.
	Next(l *Lookup, e Event) Step
}

// Kind is what happened.
type Kind uint8

// The kinds of events. Each lookup's first is Begin.
const (
	Begin    Kind = iota // somebody asks
	Deadline             // the wait of the last step is over
	Answer               // a server answered, with the event's rcode
	Refused              // ICMP or the kernel said that nobody listens at the server
	Broken               // the connection to the server was refused or broke
)

// Event is what happened to a lookup.
type Event struct {
	Kind   Kind
	Now    time.Duration // since some moment, the same for all events of a client
	Server int           // of Answer, Refused and Broken: its place in the list
	Rcode  int           // of Answer
}

// Step is what a stub does next. The zero step is to go on waiting until the
// deadline that is set.
type Step struct {
	Send Set           // whom to ask now; a server asked before, from the same port
	Drop bool          // first close the ports to all servers that are not in Send: their answers are lost
	Wait time.Duration // until Deadline, from now; 0: what was set before holds
	End  bool          // the lookup is over
	From int           // with End: whose answer, or failure, is its result; Nobody if all were silent
}

// Nobody is Step.From when no server said anything.
const Nobody = -1

// Set is a set of servers by their places.
type Set uint8

// all is the set of the first n servers.
func all(n int) Set { return 1<<n - 1 }

// only is the set of one server.
func only(server int) Set { return 1 << server }

// Has reports whether a server is in the set.
func (s Set) Has(server int) bool { return s&only(server) != 0 }

// Len is how many servers are in the set.
func (s Set) Len() int { return bits.OnesCount8(uint8(s)) }

// Lookup is the state of one lookup. Its zero value is one that has not begun;
// it holds no pointer and may be copied. Each model uses what it needs.
type Lookup struct {
	begun      time.Duration
	interval   time.Duration // of the current wait
	lastSend   time.Duration
	server     int8 // asked now; Nobody if none
	result     int8 // whose failure is told if nobody answers well, plus one
	round      uint8
	attempts   uint8
	picked     uint8 // servers tried
	failures   uint8 // of the server asked now
	unanswered uint8 // questions to it
	asked      Set
	failed     Set // answered badly, or refused
	held       Set // answered well while another was waited for
}

// fail notes a server's failure as the result unless a better is known.
func (l *Lookup) fail(server int) {
	l.failed |= only(server)
	l.result = int8(server) + 1
}

// giveUp ends the lookup with what is known of its failure.
func (l *Lookup) giveUp() Step { return Step{End: true, From: int(l.result) - 1} }

// take ends the lookup with a server's answer.
func take(server int) Step { return Step{End: true, From: server} }

// The response codes that models tell apart (RFC 1035 section 4.1.1, RFC 2136
// section 2.2).
const (
	noError  = 0
	formErr  = 1
	servFail = 2
	nxDomain = 3
	notImp   = 4
	refused  = 5
	notAuth  = 9
)

// rejects reports whether BIND's old resolver, and those that came from it,
// take a response code for a server's refusal to serve: res_send.c.
func rejects(rcode int) bool { return rcode == servFail || rcode == notImp || rcode == refused }

// Models are all models, the simplest first.
func Models() []Model {
	return []Model{None(NoneTimeout), Two(), Glibc(), Parallel(), Apple(), Resolved(), Android()}
}

// ByName finds a model; an error names those there are.
func ByName(name string) (Model, error) {
	var names []string
	for _, m := range Models() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("stub %q: must be one of %s", name, strings.Join(names, ", "))
}
