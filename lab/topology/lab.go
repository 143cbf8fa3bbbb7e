package topology

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// Lab is a running topology.
type Lab struct {
	Client    *Client   // the first or only host that asks
	Router    *Router   // the first of Routers
	Routers   []*Router // one or two
	Nodes     []*Node
	Authority *Authority
	Relay     *Relay   // nil in a lab without
	Resolver  *Process // of the router or beside it; nil in a lab without

	options Options
	clients []*Client // one, or on a flat network one for each address
	agent   Agent
	known   []*Node // all nodes, fixed once they are raised
	spares  []*Node // those that are not started
	run     *runDir
	fabric  *fabric
	hosts   []*Host
	log     *slog.Logger
	keeper  *keeper     // of resilient groups; nil: none
	unhook  func() bool // ends the watch over New's context
	close   func() error
}

// New raises a lab. It returns when the authority serves, the routers have
// their configuration and the resolvers answer; agents are started and not
// waited for (WaitAnnounced does). If anything fails, or ctx ends on the way,
// all that was made is gone again. When ctx ends later the lab closes itself.
func New(ctx context.Context, o Options) (*Lab, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("failed to raise lab: %w", err)
	}
	if err := Missing(o.Router); err != nil {
		return nil, fmt.Errorf("failed to raise lab: %w", err)
	}
	run, err := newRunDir(o.Log)
	if err != nil {
		return nil, fmt.Errorf("failed to raise lab: %w", err)
	}
	l := &Lab{options: o, agent: o.agent(), run: run, log: o.Log, unhook: func() bool { return true }}
	l.close = sync.OnceValue(l.tearDown)
	start := time.Now()
	if err := l.raise(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("failed to raise lab: %w", err), l.close())
	}
	l.unhook = context.AfterFunc(ctx, func() {
		if err := l.close(); err != nil {
			l.log.Error("lab did not close cleanly", "error", err)
		}
	})
	l.log.Info("lab is up", "id", run.id, "router", o.Router, "nodes", o.Nodes, "took", time.Since(start))
	return l, nil
}

// Close ends every process, deletes the namespaces and the run directory. It
// may be called again and from several goroutines: all wait for the same end.
func (l *Lab) Close() error {
	l.unhook()
	return l.close()
}

// ID names the lab: its run directory and its namespaces bear it.
func (l *Lab) ID() string { return l.run.id }

// Agent is what announces the service addresses on the nodes.
func (l *Lab) Agent() Agent { return l.agent }

// Dir is the lab's run directory.
func (l *Lab) Dir() string { return l.run.path }

// raise builds the network and starts the processes.
func (l *Lab) raise(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		l.raiseFabric, l.raiseRouters, l.raiseEdges, l.raiseNodes, l.raiseServices,
		l.startAuthority, l.startRouters, l.startNodes,
	} {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// host makes a host that Close takes away.
func (l *Lab) host(name string) (*Host, error) {
	h, err := newHost(l.run, name)
	if err != nil {
		return nil, err
	}
	h.fabric = l.fabric
	l.hosts = append(l.hosts, h)
	return h, nil
}

// raiseFabric makes the bridges.
func (l *Lab) raiseFabric(context.Context) error {
	h, err := l.host("switch")
	if err != nil {
		return err
	}
	l.fabric = &fabric{Host: h}
	return l.fabric.bridges(l.options.segments())
}

// raiseRouters makes and connects the routers.
func (l *Lab) raiseRouters(context.Context) error {
	for i := range l.options.Routers {
		h, err := l.host(fmt.Sprintf("r%d", i+1))
		if err != nil {
			return err
		}
		r, err := newRouter(h, i+1, l.options)
		if err != nil {
			return err
		}
		l.Routers = append(l.Routers, r)
	}
	l.Router = l.Routers[0]
	return nil
}

// raiseEdges makes and connects the clients and the authority.
func (l *Lab) raiseEdges(context.Context) error {
	if err := l.raiseClients(); err != nil {
		return err
	}
	w, err := l.host("wan")
	if err != nil {
		return err
	}
	l.Authority = newAuthority(w, l.options.Authority)
	both := append(wideNet.addresses(internetHost), wideNet.addresses(lanHost)...)
	return errors.Join(
		l.fabric.connect(w, wideNet, both),
		w.setGateway(wideNet, 1),
	)
}

// raiseNodes makes and connects the nodes.
func (l *Lab) raiseNodes(ctx context.Context) error {
	if l.options.LinkKind == "" {
		l.options.LinkKind = l.fabric.holderKind()
	}
	for i := range l.options.Nodes + l.options.Spares {
		h, err := l.host(fmt.Sprintf("n%d", i+1))
		if err != nil {
			return err
		}
		n, err := newNode(h, i, l.options)
		if err != nil {
			return err
		}
		if err := n.setUp(ctx, l.options, l.agent); err != nil {
			return err
		}
		l.known = append(l.known, n)
	}
	l.Nodes = slices.Clone(l.known[:l.options.Nodes])
	l.spares = l.known[l.options.Nodes:]
	return nil
}

// tearDown ends the processes of all hosts at once, then takes the hosts away.
func (l *Lab) tearDown() error {
	errs := make([]error, len(l.hosts), len(l.hosts)+len(l.known))
	if l.keeper != nil {
		errs = append(errs, l.keeper.end())
	}
	var wg sync.WaitGroup
	for i, h := range l.hosts {
		wg.Go(func() { errs[i] = h.end() })
	}
	wg.Wait()
	for i, h := range l.hosts {
		errs[i] = errors.Join(errs[i], h.cut(), h.Namespace.close())
	}
	for _, n := range l.known {
		if n.gate != nil {
			errs = append(errs, n.gate.Close())
		}
	}
	return errors.Join(errors.Join(errs...), l.run.close(l.options.Keep))
}

// Logs is what all processes of the lab have written, host by host.
func (l *Lab) Logs() string {
	var b strings.Builder
	for _, h := range l.hosts {
		for _, p := range h.processes {
			if text := p.Log(); text != "" {
				fmt.Fprintf(&b, "--- %s\n%s", p.Name, text)
			}
		}
	}
	return b.String()
}
