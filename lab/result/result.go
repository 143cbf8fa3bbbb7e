// Package result is what a run of a scenario leaves behind: its figures, its
// proof, its time line and the box it ran on, as files that a report is made
// of later.
package result

import (
	"time"

	"recuse/lab/load"
)

// Run is one run of one scenario on one design. It is kept as FileRun in a
// directory of its own, beside the records of the load (FileLoad) and the logs.
type Run struct {
	ID       string `json:"id"` // directory name, unique within a report
	Scenario string `json:"scenario"`
	Title    string `json:"title"` // the scenario in a line
	Setup    Setup  `json:"setup"`

	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took_ns"`
	Phases  []Phase       `json:"phases"` // calm, action, fault, revert, calm

	// Proof is what shows that the fault met the node that served the client.
	// A run whose proof fails is void, whatever its figures say.
	Proof []Proof `json:"proof"`
	Void  string  `json:"void,omitempty"` // why the run says nothing; "" if it counts
	// LeftOut is why the scenario could not be run on this setup at all; then
	// there are no figures. "" if it ran.
	LeftOut string `json:"left_out,omitempty"`

	Figures load.Figures            `json:"figures"` // of the whole run
	ByPhase map[string]load.Figures `json:"by_phase"`
	Notes   []string                `json:"notes,omitempty"` // what the scenario itself measured, a sentence each

	Events   []Event  `json:"events"`
	Machine  Machine  `json:"machine"`
	Settings []string `json:"settings"` // what differs from the defaults, a line each

	// Dir is where the run was read from; "" if it was not.
	Dir string `json:"-"`
}

// Setup says what the scenario ran on.
type Setup struct {
	Design     string  `json:"design"`      // baseline, relay, anycast
	Agent      string  `json:"agent"`       // recuse, exabgp, frr-script, bird-script, keepalived, none
	Tuned      bool    `json:"tuned"`       // the agent as fast as its settings go, not at its defaults
	Router     string  `json:"router"`      // frr, bird
	Layout     string  `json:"layout"`      // routed, flat
	LastResort string  `json:"last_resort"` // none, floating, policy, redirect
	Backend    string  `json:"backend"`     // namespaces, incus
	Stub       string  `json:"stub"`        // the clients' stub model
	Rate       float64 `json:"rate"`        // questions a second
	Scale      float64 `json:"scale"`       // 1: full length; 0.25: phases a quarter as long
}

// Phase is a part of a run.
type Phase struct {
	Name string    `json:"name"` // calm, action, fault, revert, after
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Proof is one piece of evidence, from the packets or the kernel.
type Proof struct {
	Claim    string `json:"claim"`    // what should be true
	Holds    bool   `json:"holds"`    // whether it was
	Evidence string `json:"evidence"` // what was seen, with its numbers and its source
}

// Event is a point on the time line. Lane and State make a coloured band: the
// lane is in that state from At until its next event. An event without State
// is a mark with a text only.
type Event struct {
	At    time.Time `json:"at"`
	Lane  string    `json:"lane"`  // LaneLab, "router routes", "n1 stance", "n1 checks", "n1 bgp", "n1 bfd"
	State string    `json:"state"` // announced, depreferred, withdrawn; ok, slow, sick, dead, unknown; UP, DOWN; "2 next hops"
	Text  string    `json:"text"`
	// Part is what in the lane the state is of, such as one check of several; the
	// lane is in the worst state of its parts. "" if it has none.
	Part string `json:"part,omitempty"`
}

// LaneLab is the lane of what the lab itself did.
const LaneLab = "lab"

// StateGone is the state of a part without which the lane's other parts are
// nothing either, such as the process that had them.
const StateGone = "gone"

// Machine is the box that a run was made on.
type Machine struct {
	CPU      string            `json:"cpu"`
	Cores    int               `json:"cores"`
	Memory   int64             `json:"memory_bytes"`
	Kernel   string            `json:"kernel"`
	System   string            `json:"system"`   // PRETTY_NAME of os-release
	Versions map[string]string `json:"versions"` // of recuse, frr, bird, unbound, dnsdist, ...
}

// Names of a run's files.
const (
	FileRun  = "run.json"
	FileLoad = "load.csv"
	DirLogs  = "logs"
)
