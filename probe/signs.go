package probe

import "context"

// Signer is a Prober that knows other questions to the same server. They are
// asked when its own is late, to tell a server that hangs from one whose path
// behind it does.
type Signer interface {
	Prober
	// Signs returns the questions in the order in which they are to be asked.
	Signs() []Sign
}

// Sign is one other question to a check's server.
type Sign struct {
	// Paid is set if the question counts for the server's budget.
	Paid bool
	// Look asks once and returns by the deadline that ctx carries: what was seen,
	// for people ("still answers id.server CH TXT"), or "" if no answer came. An
	// answer of any content is one.
	Look Late
}

// Patient is a Prober that can hear an answer which comes after the deadline.
type Patient interface {
	Prober
	// ProbePatiently is Probe. If it was in vain but an answer may still come,
	// late is not nil, and the caller must call it once: it frees the socket.
	ProbePatiently(ctx context.Context) (res Result, late Late)
}

// Late waits for an answer until ctx is done, and returns what was seen, for
// people, or "" if none came.
type Late func(ctx context.Context) string
