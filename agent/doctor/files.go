package doctor

import (
	"errors"
	"io/fs"
)

// stateDir looks at where holds and drains outlive a restart.
func stateDir(b *Box) []Finding {
	path, d := b.Config.StateDir, b.StateDir
	const why = "holds and drains are forgotten with the agent: a drained node would come back with the box"
	switch {
	case errors.Is(d.Err, fs.ErrNotExist):
		return []Finding{{Severity: Note, Seen: "state_dir: " + path + " does not exist",
			Why:    why + ", unless the agent can make it",
			WayOut: "StateDirectory=recuse in the unit, or mkdir -p " + path}}
	case errors.Is(d.Err, fs.ErrPermission):
		return unread(d.Err, why)
	case d.Err != nil:
		return []Finding{{Severity: Warning, Seen: "state_dir: " + d.Err.Error(), Why: why,
			WayOut: "make it writable for the agent, or set another state_dir"}}
	case d.Volatile:
		return []Finding{{Severity: Warning, Seen: "state_dir: " + path + " is on a file system in memory",
			Why: why, WayOut: "set state_dir to a directory on a disk, such as /var/lib/recuse"}}
	}
	return nil
}

// controlGroup looks at who may use the socket.
func controlGroup(b *Box) []Finding {
	if b.NoGroup == nil {
		return nil
	}
	return []Finding{{Severity: Note, Seen: "control.group: " + b.NoGroup.Error(),
		Why:    "only root may ask the agent",
		WayOut: "groupadd --system " + b.Config.Control.Group + `, or control: {group: ""}`}}
}
