// Package scenario says what goes wrong in the lab, and shows that it did.
//
// A Scenario is data: its phases (calm, action, fault, revert, after), what is
// done at the action and at the revert, and the proof that it met the node that
// served the client, taken from the packets or the kernel. There is one file for
// each. The runner (play.go) does for all of them what is the same: it lets the
// clients ask, picks the node that serves them, looks at every node at the end of
// each phase, gathers what the parties say, judges, and makes a result.Run.
//
// A run without its proof is void, whatever its figures say. The package knows
// benches and not what raised them.
package scenario
