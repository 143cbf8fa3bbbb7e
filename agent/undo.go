package agent

import (
	"errors"
	"fmt"
)

// undo is the list of what to take back when a start fails halfway.
type undo struct{ steps []undoStep }

// step is one thing to take back.
type undoStep struct {
	name string
	f    func() error
}

// add registers how to take back what was just done.
func (u *undo) add(name string, f func() error) {
	u.steps = append(u.steps, undoStep{name, f})
}

// run takes everything back, the last first, and reports what failed.
func (u *undo) run() error {
	var errs []error
	for i := len(u.steps) - 1; i >= 0; i-- {
		if err := u.steps[i].f(); err != nil {
			errs = append(errs, fmt.Errorf("failed to %s: %w",
				u.steps[i].name, err))
		}
	}
	u.steps = nil
	return errors.Join(errs...)
}
