package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"recuse/agent/config"
	"recuse/agent/control"
	"recuse/bgp"
	"recuse/netlinkx"
)

// closeWithin bounds the farewell to the BGP peers: their Cease, and then one
// detection time of BFD, which bgp bounds at 5 s.
const closeWithin = 8 * time.Second

// keepWithin bounds the last writing of what outlives a restart: a disk that
// hangs must not keep a link on the box.
const keepWithin = time.Second

// closeText is the shutdown communication that a router's log shows (RFC 9003).
const closeText = "recuse stops"

// Agent is the daemon of one node.
type Agent struct {
	conf    *config.Config
	log     *slog.Logger
	loop    *loop
	speaker *bgp.Speaker
	holders []*netlinkx.Holder // of the services, while they are made
	socket  *control.Listener
	undo    undo

	reloading sync.Mutex
	// failed tells that something has ended that the agent cannot do without.
	failed chan error
}

// New takes hold of everything that the agent needs on this box: the control
// socket, the links, the BGP speaker. On an error nothing has changed there.
//
// An error that is a config.Errors is the configuration's fault; any other is
// the box's.
func New(c *config.Config, version string, log *Log) (*Agent, error) {
	a := &Agent{conf: c, log: log.Logger, failed: make(chan error, 1),
		loop: newLoop(log.Logger, &log.level, c,
			About{Node: c.Node, Version: version, ConfigPath: c.Path,
				LoadedAt: time.Now()})}
	if err := a.setUp(); err != nil {
		return nil, errors.Join(err, a.undo.run())
	}
	return a, nil
}

// Config is the configuration in force, before Run and after it.
func (a *Agent) Config() *config.Config { return a.loop.conf }

// Refused notes, before Run, that the settings of a reload could not be put in
// force and those of before are again.
func (a *Agent) Refused(err error) { a.loop.noteReload(err) }

// setUp makes the parts in the order in which they fail most cheaply: nothing
// is written to the kernel before all that can be looked at has been.
func (a *Agent) setUp() error {
	if err := a.makeServices(); err != nil {
		return err
	}
	if err := a.lockLinks(); err != nil {
		return err
	}
	if err := CheckBox(a.conf); err != nil {
		return err
	}
	if err := a.listen(); err != nil {
		return err
	}
	var err error
	a.speaker, err = bgp.New(a.conf.BGP, a.log, a.loop.peerChanged)
	if err != nil {
		return fmt.Errorf("failed to set up BGP: %w", err)
	}
	a.loop.speaker = a.speaker
	a.speaker.SetAlive(a.loop.pulse.alive)
	return a.takeLinks()
}

// listen makes the control socket.
func (a *Agent) listen() error {
	c := a.conf.Control
	l, warning, err := control.Listen(c.Socket, c.Group)
	if err != nil {
		return err
	}
	if warning != "" {
		a.log.Warn(warning)
	}
	a.socket = l
	a.undo.add("close the control socket", l.Close)
	return nil
}

// makeServices builds every service with its holder and its checks.
func (a *Agent) makeServices() error {
	for i, c := range a.conf.Services {
		s, h, err := a.loop.maker.hold(c)
		if err != nil {
			return fmt.Errorf("services[%d].%w", i, err)
		}
		a.loop.services = append(a.loop.services, s)
		a.holders = append(a.holders, h)
	}
	a.recall()
	return nil
}

// recall restores the holds and drains of an earlier run. What cannot be read
// is no reason not to serve.
func (a *Agent) recall() {
	k := newKeeper(a.conf.StateDir, a.log)
	k.tell = func(fault string) { a.loop.alarms.set("state_dir", fault) }
	a.loop.keeper = k
	kept, err := k.load()
	if err != nil {
		a.log.Error("holds and drains of the last run are lost", "error", err)
	}
	for _, s := range a.loop.services {
		s.recall(kept[s.conf.Name], time.Now())
	}
}

// lockLinks claims every link and address. It comes before any look at the
// box, on which another agent's addresses would seem to be a conflict of the
// settings. The locks go with the process, or when New fails.
func (a *Agent) lockLinks() error {
	for _, h := range a.holders {
		if err := h.Lock(); err != nil {
			return err
		}
		a.undo.add("release the link", h.Release)
	}
	return nil
}

// takeLinks makes or adopts every link, and sweeps up what an earlier run left
// beside them.
func (a *Agent) takeLinks() error {
	var all []netip.Prefix
	for i, h := range a.holders {
		c := a.conf.Services[i]
		if err := a.loop.maker.adopt(c, h, &a.undo); err != nil {
			return err
		}
		all = append(all, c.Addresses...)
	}
	if err := a.holders[0].Sweep(all); err != nil {
		a.log.Warn("leftovers of an earlier run stay", "error", err)
	}
	return nil
}

// peerChanged wakes the loop; it never blocks.
func (l *loop) peerChanged() {
	select {
	case l.peers <- struct{}{}:
	default:
	}
}

// routerID is this node's, or empty until one is known.
func (a *Agent) routerID() string {
	id := a.speaker.RouterID()
	if id == (netip.Addr{}) {
		return ""
	}
	return id.String()
}

// Run serves until stop ends, then takes the node out in order. When hurry
// ends too, the waits of that are skipped. It fails at once with ErrStuck when
// the deciding goroutine does not run any more: nothing can be done in order
// then.
func (a *Agent) Run(stop, hurry context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var tasks sync.WaitGroup
	stuck := make(chan error, 1)
	err := a.start(ctx, &tasks)
	if err == nil {
		go func() { stuck <- a.loop.pulse.watch(ctx) }()
		a.tell("READY=1")
		a.log.Info("agent started", "node", a.conf.Node,
			"services", len(a.loop.services), "peers", len(a.conf.BGP.Peers))
		left := make(chan error, 1)
		go func() { left <- a.leaveWhenTold(ctx, stop, hurry) }()
		select {
		case err := <-stuck:
			return err
		case err = <-a.failed:
		case err = <-left:
		}
	}
	cancel()
	tasks.Wait()
	a.loop.keeper.wait(keepWithin)
	var again *Restart
	if !errors.As(err, &again) {
		again = &Restart{}
	}
	return errors.Join(err, a.cleanUp(again.Config))
}

// leaveWhenTold waits for the end, or for a reload that asks for a restart, and
// takes the node out. It returns a Restart for the latter.
func (a *Agent) leaveWhenTold(ctx, stop, hurry context.Context) error {
	select {
	case <-stop.Done():
		a.tell("STOPPING=1")
		a.leave(ctx, hurry)
		return nil
	case next := <-a.loop.again:
		a.tell("RELOADING=1")
		a.leave(ctx, hurry)
		return &Restart{next}
	}
}

// tell says something to the supervisor; that it cannot is no reason to stop.
func (a *Agent) tell(state string) {
	if err := a.loop.notifier.send(state); err != nil {
		a.log.Warn("the supervisor is not told", "state", state, "error", err)
	}
}

// start runs every task. They all end with ctx.
func (a *Agent) start(ctx context.Context, tasks *sync.WaitGroup) error {
	links, err := netlinkx.Watch(ctx)
	if err != nil {
		return fmt.Errorf("failed to watch the links: %w", err)
	}
	a.loop.links, a.loop.connected = links, netlinkx.Connected
	a.loop.notifier = newNotifier()
	a.loop.pulse.beat()
	a.loop.lookAgain()
	run := func(name string, f func(context.Context) error) {
		tasks.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				a.loop.alarms.set(name, err.Error())
				a.log.Error("task ended", "task", name, "error", err)
			}
		})
	}
	run("decide", func(ctx context.Context) error {
		a.loop.run(ctx)
		return nil
	})
	tasks.Go(func() {
		// Without BGP there is nothing that this process could promise.
		if err := a.speaker.Run(ctx); err != nil && ctx.Err() == nil {
			a.failed <- fmt.Errorf("BGP ended: %w", err)
		}
	})
	run("control", func(ctx context.Context) error {
		return control.Serve(ctx, a.socket, a, a.log)
	})
	go a.loop.keeper.run(ctx)
	run("trim", trim)
	if a.conf.HTTP.Listen != "" {
		run("http", a.serveHTTP)
	}
	return nil
}

// leave takes every service out of the routing and says good-bye to the peers.
func (a *Agent) leave(ctx, hurry context.Context) {
	a.log.Info("agent stops")
	stopped := a.loop.stopped
	a.loop.send(stopEvent{hurry: hurry.Err() != nil})
	select {
	case <-stopped:
	case <-hurry.Done():
		a.loop.send(stopEvent{hurry: true})
		<-stopped
	}
	bye, cancel := context.WithTimeout(ctx, closeWithin)
	defer cancel()
	defer context.AfterFunc(hurry, cancel)()
	err := a.speaker.Close(bye, closeText)
	if err != nil && hurry.Err() == nil {
		a.log.Warn("failed to close the BGP sessions in order", "error", err)
	}
}

// cleanUp leaves nothing of ours on the box, but for links that are kept. If
// the agent is made anew, next is what it will be, otherwise nil.
func (a *Agent) cleanUp(next *config.Config) error {
	var errs []error
	for _, s := range a.loop.services {
		errs = append(errs, s.letGo(next))
	}
	return errors.Join(append(errs, a.socket.Close())...)
}

// letGo ends the service's hold of its link. A link that is kept stays, without
// the addresses that the next configuration does not have, if there is one.
func (s *service) letGo(next *config.Config) error {
	if s.conf.Link.WhenOut != config.WhenOutKeep {
		return s.link.Remove()
	}
	var err error
	if next != nil {
		stay := staying(s.conf, next)
		if len(stay) == 0 {
			return s.link.Remove()
		}
		err = s.link.SetAddresses(stay)
	}
	return errors.Join(err, s.link.Release())
}

// staying are the addresses that a service has on the same link under another
// configuration.
func staying(now config.Service, next *config.Config) []netip.Prefix {
	for _, s := range next.Services {
		if s.Name == now.Name && s.Link.Name == now.Link.Name &&
			s.Link.Kind == now.Link.Kind {
			return slices.DeleteFunc(slices.Clone(now.Addresses),
				func(p netip.Prefix) bool {
					return !slices.Contains(s.Addresses, p)
				})
		}
	}
	return nil
}
