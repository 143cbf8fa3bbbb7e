package dnsx

import (
	"context"

	"recuse/probe"
)

// fromError says what an error of a socket means for the probe.
func fromError(ctx context.Context, err error) finding {
	r, _ := probe.Failure(ctx, err)
	return fromResult(r)
}

// fromResult returns a result without its times.
func fromResult(r probe.Result) finding {
	return finding{cause: r.Cause, text: r.Outcome, alive: r.Alive, expires: r.Expires}
}
