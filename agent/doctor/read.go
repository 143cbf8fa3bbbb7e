package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/user"
	"time"

	"golang.org/x/sys/unix"

	"recuse/agent"
	"recuse/agent/config"
	"recuse/agent/control"
	"recuse/bgp"
	"recuse/netlinkx"
	"recuse/probe/tripwire"
)

// outside are addresses behind whatever leads to the internet: a root server's
// (a.root-servers.net), where a resolver's own queries go. Nothing is sent to
// them.
var outside = [2]netip.Addr{
	netip.MustParseAddr("198.41.0.4"),
	netip.MustParseAddr("2001:503:ba3e::2:30"),
}

// answerWithin bounds the questions to the agent.
const answerWithin = 5 * time.Second

// Look reads all that the examinations want to know of this box, its resolver
// and the agent behind the client. It sends what the configuration's checks
// send, and nothing else.
func Look(ctx context.Context, c *config.Config, client *control.Client) *Box {
	b := &Box{Config: c, Files: os.DirFS("/"), Unfit: agent.CheckBox(c),
		Agent:    readAgent(ctx, client),
		StateDir: readStateDir(c.StateDir), NoGroup: readGroup(c.Control.Group),
		Sockets: got(readSockets()), Rules: got(readRules(ctx)),
		Guards: got(readGuards()), Indexes: indexes()}
	for _, s := range c.Services {
		b.Links = append(b.Links, got(agent.Observe(s)))
	}
	for _, p := range c.BGP.Peers {
		b.readPeer(p)
	}
	for i, a := range outside {
		b.Outward[i] = got(netlinkx.WayTo(a))
	}
	for _, w := range kernelWires(c) {
		b.Wires = append(b.Wires, tryWire(w.server))
	}
	b.Asked = got(ask(ctx, c))
	b.Zones = got(askZones(ctx, c))
	return b
}

// readAgent asks the agent, and the kernel which process it is.
func readAgent(ctx context.Context, client *control.Client) Agent {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var a Agent
	if a.Status, a.Err = client.Status(ctx); a.Err != nil {
		return a
	}
	a.PID, a.Err = client.PID(ctx)
	return a
}

// readPeer reads what a peer hangs on.
func (b *Box) readPeer(p bgp.Peer) {
	to := p.Address
	if p.Interface != "" && to.Is6() {
		to = to.WithZone(p.Interface)
	}
	way := got(netlinkx.WayTo(to))
	b.Ways = append(b.Ways, way)
	local, from := Got[netlinkx.Way]{}, way.Value.Source
	if p.LocalAddress.IsValid() {
		local, from = got(netlinkx.WayTo(p.LocalAddress)), p.LocalAddress
	}
	b.Locals = append(b.Locals, local)
	var withheld error
	if from.IsValid() {
		withheld = p.Withheld(from, announced(b.Config))
	}
	b.Withheld = append(b.Withheld, withheld)
}

// readGuards reads the unreachable routes of the agent.
func readGuards() ([]netip.Prefix, error) {
	k, err := netlinkx.NewKernel()
	if err != nil {
		return nil, err
	}
	return k.Guards()
}

// indexes are those of the box's links, by name.
func indexes() map[string]int {
	all := map[string]int{}
	list, _ := net.Interfaces() // what cannot be read is not there
	for _, l := range list {
		all[l.Name] = l.Index
	}
	return all
}

// tryWire lays a tripwire and takes it in.
func tryWire(server netip.AddrPort) error {
	w, err := tripwire.Open(server)
	if err == nil {
		w.Close()
	}
	return err
}

// readStateDir looks at a directory without writing to it.
func readStateDir(path string) StateDir {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: unix.ENOTDIR}
	}
	if err == nil {
		if err = unix.Access(path, unix.W_OK); err != nil {
			err = &fs.PathError{Op: "write to", Path: path, Err: err}
		}
	}
	var s unix.Statfs_t
	known := unix.Statfs(path, &s) == nil
	kind := uint32(s.Type) // signed, and of 32 bits on some machines
	volatile := known && (kind == unix.TMPFS_MAGIC || kind == unix.RAMFS_MAGIC)
	return StateDir{Err: err, Volatile: volatile}
}

// readGroup looks for a group; none is wanted without a name.
func readGroup(name string) error {
	var none user.UnknownGroupError
	if _, err := user.LookupGroup(name); name != "" && errors.As(err, &none) {
		return err
	}
	return nil
}
