package netlinkx_test

import (
	"errors"
	"testing"

	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
)

// dying is a kernel under an agent that is killed before a step of that verb.
type dying struct {
	netlinkx.Kernel
	at netlinkx.Verb
}

var errKilled = errors.New("killed")

// Apply implements netlinkx.Kernel.
func (d dying) Apply(op netlinkx.Op) error {
	if op.Verb == d.at {
		return errKilled
	}
	return d.Kernel.Apply(op)
}

// TestKilled kills an agent before each step of Raise: what it leaves behind is
// adopted by the next one, on the kernel.
func TestKilled(t *testing.T) {
	steps := []netlinkx.Verb{netlinkx.AddGuard, netlinkx.CreateLink, netlinkx.MarkLink,
		netlinkx.SetLinkUp, netlinkx.AddAddress}
	for _, verb := range steps {
		t.Run(verb.String(), func(t *testing.T) {
			b := newBox(t)
			fresh := b.String()
			k, err := netlinkx.NewKernel()
			must(t, err)
			killed, err := netlinkx.On(configOf(netlinktest.Kind(t)), dying{k, verb})
			must(t, err)
			if err := killed.Raise(); !errors.Is(err, errKilled) {
				t.Fatalf("got error %v, want the death", err)
			}
			left := b.String()
			must(t, b.Raise())
			s, err := b.Observe()
			must(t, err)
			if !s.Up || len(s.Present) != 2 {
				t.Errorf("got %+v, want it raised; left behind was:\n%s", s, left)
			}
			must(t, b.Remove())
			if got := b.String(); got != fresh {
				t.Errorf("unexpected state after all:\n%s", got)
			}
		})
	}
}
