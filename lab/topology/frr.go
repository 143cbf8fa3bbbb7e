package topology

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
)

// frr is FRR: zebra and bgpd, and bfdd and staticd if the configuration speaks
// of what they do. The daemons start without a configuration and are given the integrated text by
// vtysh, which is how a user loads what `recuse peering` writes.
type frr struct {
	host                       *Host
	zebra, staticd, bfdd, bgpd *Process
	use                        []*Process // those that the configuration needs, in order
}

// integrated is the file that vtysh loads.
const integrated = "frr.conf"

// newFRR describes the daemons of a host.
func newFRR(h *Host) *frr {
	f := &frr{host: h}
	f.zebra = f.daemon("zebra", "zserv.api")
	f.staticd = f.daemon("staticd", "staticd.vty")
	f.bfdd = f.daemon("bfdd", "bfdd.vty", "--bfdctl", h.Path("bfdd.sock"))
	f.bgpd = f.daemon("bgpd", "bgpd.vty", "-p", "179")
	f.bgpd.After = f.load
	return f
}

// daemon describes one daemon, which serves once it has opened its socket. It
// runs as root, which it takes for a user, and from its start in the group of
// the vty sockets: a daemon that changes its group by itself loses the death
// signal.
func (f *frr) daemon(name, socket string, more ...string) *Process {
	h := f.host
	group := "root"
	if g, err := user.LookupGroup("frrvty"); err == nil {
		group = g.Name
	}
	p := h.Add(name, func() []string {
		argv := []string{
			tool(name), "-u", "root", "-g", group,
			"-i", h.Path(name + ".pid"), "-z", h.Path("zserv.api"), "--vty_socket", h.Dir,
			"-f", h.Path(name + ".conf"), "-P", "0", "--log", "stdout",
		}
		return append(argv, more...)
	})
	p.gid = groupID(group)
	p.Before = func() error { return forget(h.Path(socket)) }
	p.Ready = func() (bool, string) { return exists(h.Path(socket)), "no " + socket }
	return p
}

// groupID is the number of a group, -1 if there is none.
func groupID(name string) int {
	g, err := user.LookupGroup(name)
	if err != nil {
		return -1
	}
	id, err := strconv.Atoi(g.Gid)
	if err != nil {
		return -1
	}
	return id
}

// configure takes the integrated text.
func (f *frr) configure(text string) error {
	f.use = []*Process{f.zebra}
	if strings.Contains("\n"+text, "\nip route ") || strings.Contains("\n"+text, "\nipv6 route ") {
		f.use = append(f.use, f.staticd)
	}
	if strings.Contains("\n"+text, "\nbfd\n") {
		f.use = append(f.use, f.bfdd)
	}
	f.use = append(f.use, f.bgpd)
	for _, name := range []string{"zebra", "staticd", "bfdd", "bgpd"} {
		if err := f.host.WriteFile(name+".conf", "hostname "+f.host.ShortName+"\n"); err != nil {
			return err
		}
	}
	return f.host.WriteFile(integrated, text)
}

// start starts zebra, then who needs it; the last one loads the configuration.
func (f *frr) start(ctx context.Context) error { return launch(ctx, f.use) }

// launch starts processes, each when the one before it serves.
func launch(ctx context.Context, processes []*Process) error {
	for _, p := range processes {
		if err := p.Launch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// forget removes a file that an earlier run may have left.
func forget(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("failed to remove old socket: %w", err)
	}
	return nil
}

// load gives the integrated text to the daemons. vtysh says what a daemon
// refused in lines that begin with a per cent sign or name a line number, and
// may still exit with 0.
func (f *frr) load(ctx context.Context) error {
	out, err := f.host.Run(ctx, tool("vtysh"), "--vty_socket", f.host.Dir, "-f", f.host.Path(integrated))
	if err != nil {
		return fmt.Errorf("failed to load configuration: %w", err)
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "%") || strings.HasPrefix(line, "line ") {
			return fmt.Errorf("failed to load configuration: refused: %s", strings.TrimSpace(out))
		}
	}
	return nil
}

// command is a vtysh call.
func (f *frr) command(question string) []string { return f.host.Vtysh(question) }
