package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"recuse/agent/control"
	"recuse/bgp"
)

// settings passes on what is legal and probably not meant.
func settings(b *Box) []Finding {
	var found []Finding
	for _, w := range b.Config.Warnings {
		found = append(found, Finding{Severity: Warning, Seen: w,
			Why:    "the setting is legal and probably not meant",
			WayOut: "change it in " + b.Config.Path})
	}
	return found
}

// running looks at the agent itself.
func running(b *Box) []Finding {
	switch {
	case errors.Is(b.Agent.Err, control.ErrNoDaemon):
		return []Finding{{Severity: Note, Seen: b.Agent.Err.Error(),
			Why: "what only the agent knows (peers, BFD, what routers send back) " +
				"is not looked at",
			WayOut: "start it, and ask again"}}
	case b.Agent.Err != nil:
		return unread(b.Agent.Err, "the agent knows of peers, BFD and what "+
			"routers send back")
	}
	var found []Finding
	for _, a := range b.Agent.Status.Alarms {
		found = append(found, Finding{Severity: Warning, Seen: a,
			Why:    "the running agent gives it as an alarm",
			WayOut: "recuse events shows what came of it"})
	}
	return append(found, inForce(b)...)
}

// inForce compares the agent's configuration with the file.
func inForce(b *Box) []Finding {
	c := b.Agent.Status.Config
	info, err := fs.Stat(b.Files, strings.TrimPrefix(b.Config.Path, "/"))
	switch {
	case c.Path != b.Config.Path:
		return []Finding{{Severity: Note,
			Seen:   fmt.Sprintf("the agent on this socket runs with %s, not %s", c.Path, b.Config.Path),
			Why:    "findings about settings are of the file, those about sessions of the agent",
			WayOut: "recuse doctor -c " + c.Path}}
	case !c.LastReloadOK:
		return []Finding{{Severity: Warning, Seen: "the last reload of " + c.Path + " was refused",
			Why:    "the agent goes on with the settings of before",
			WayOut: "recuse reload says what is wrong with it"}}
	case err == nil && info.ModTime().After(c.LoadedAt):
		return []Finding{{Severity: Note, Seen: c.Path + " has changed since the agent read it",
			Why:    "the agent goes on with the settings of before",
			WayOut: "recuse reload --dry-run says what it would change"}}
	}
	return nil
}

// services looks at what is announced.
func services(b *Box) []Finding {
	var found []Finding
	for _, s := range b.Agent.Status.Services {
		seen := fmt.Sprintf("service %s is %s: %s", s.Name, s.Stance, s.Reason)
		switch {
		case s.Admin == "drained":
			found = append(found, Finding{Severity: Note, Seen: seen,
				Why:    "it is out by an operator's wish",
				WayOut: "recuse undrain " + s.Name})
		case s.Stance == "depreferred":
			found = append(found, Finding{Severity: Warning, Seen: seen,
				Why:    "this node is only second choice: it serves where no other does",
				WayOut: "recuse status, and recuse events for how it came to that"})
		case s.Stance != "announced":
			found = append(found, Finding{Severity: Error, Seen: seen,
				Why:    "the routers have no route to this node",
				WayOut: "recuse status, and recuse events for how it came to that"})
		}
		if s.Link.Error != "" && b.Unfit == nil {
			found = append(found, Finding{Severity: Error,
				Seen:   fmt.Sprintf("link %s: %s", s.Link.Name, s.Link.Error),
				Why:    "the announcement follows the link",
				WayOut: "the message names it"})
		}
	}
	return found
}

// configured finds a peer's settings by its address in status, as far as the
// agent goes by them.
func (b *Box) configured(address string) (int, bool) {
	i := slices.IndexFunc(b.Config.BGP.Peers, func(p bgp.Peer) bool { return p.Address.String() == address })
	return i, i >= 0 && len(inForce(b)) == 0
}
