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

// frr is FRR: zebra and bgpd, and bfdd if the configuration speaks of BFD. The
// daemons start without a configuration and are given the integrated text by
// vtysh, which is how a user loads what `recuse peering` writes.
type frr struct {
	host  *Host
	zebra *Process
	bfdd  *Process
	bgpd  *Process
	bfd   bool
}

// integrated is the file that vtysh loads.
const integrated = "frr.conf"

// newFRR describes the daemons of a host.
func newFRR(h *Host) *frr {
	f := &frr{host: h}
	f.zebra = f.daemon("zebra")
	f.bfdd = f.daemon("bfdd", "--bfdctl", h.Path("bfdd.sock"))
	f.bgpd = f.daemon("bgpd", "-p", "179")
	return f
}

// daemon describes one daemon. It runs as root, which it takes for a user, and
// from its start in the group of the vty sockets: a daemon that changes its
// group by itself loses the death signal.
func (f *frr) daemon(name string, more ...string) *Process {
	h := f.host
	group := "root"
	if g, err := user.LookupGroup("frrvty"); err == nil {
		group = g.Name
	}
	p := h.process(name, func() []string {
		argv := []string{
			tool(name), "-u", "root", "-g", group,
			"-i", h.Path(name + ".pid"), "-z", h.Path("zserv.api"), "--vty_socket", h.Dir,
			"-f", h.Path(name + ".conf"), "-P", "0", "--log", "stdout",
		}
		return append(argv, more...)
	})
	p.gid = groupID(group)
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
	f.bfd = strings.Contains("\n"+text, "\nbfd\n")
	for _, name := range []string{"zebra", "bfdd", "bgpd"} {
		if err := f.host.write(name+".conf", "hostname "+f.host.ShortName+"\n"); err != nil {
			return err
		}
	}
	return f.host.write(integrated, text)
}

// start starts zebra, then who needs it, and loads the configuration.
func (f *frr) start(ctx context.Context) error {
	if err := f.launch(ctx, f.zebra, "zserv.api"); err != nil {
		return err
	}
	if f.bfd {
		if err := f.launch(ctx, f.bfdd, "bfdd.vty"); err != nil {
			return err
		}
	}
	if err := f.launch(ctx, f.bgpd, "bgpd.vty"); err != nil {
		return err
	}
	return f.load(ctx)
}

// launch starts a daemon and waits for its socket.
func (f *frr) launch(ctx context.Context, p *Process, socket string) error {
	path := f.host.Path(socket)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("failed to remove old socket: %w", err)
	}
	if err := p.Start(); err != nil {
		return err
	}
	return p.ready(ctx, p.Name+" open "+socket, func() (bool, string) {
		return exists(path), "no socket"
	})
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
func (f *frr) command(question string) []string {
	return []string{tool("vtysh"), "--vty_socket", f.host.Dir, "-c", question}
}
