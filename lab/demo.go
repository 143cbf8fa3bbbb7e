package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"recuse/lab/load"
	"recuse/lab/topology"
)

// The demo's pace.
const (
	demoRate     = 50 // questions a second
	demoCalm     = 4 * time.Second
	demoOutage   = 6 * time.Second
	demoPatience = 30 * time.Second
)

// DemoOptions say what the demo runs on.
type DemoOptions struct {
	Recuse string // path of the agent's binary
	Router string // topology.FRR or topology.BIRD
	Out    io.Writer
}

// Demo raises a lab of three nodes, kills the resolver that serves most of a
// client's questions, starts it again, and prints what everybody saw. It fails
// if the fault did not happen, or the node did not leave and come back.
func Demo(ctx context.Context, o DemoOptions) (err error) {
	d := &demo{out: o.Out, address: topology.DefaultAddresses()[0]}
	d.say("raising the lab: a client, a router (%s), three nodes with unbound "+
		"and recuse", o.Router)
	d.lab, err = topology.New(ctx, topology.Options{Recuse: o.Recuse,
		Router: o.Router, Configure: logJSON})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.lab.Close()) }()
	if err := d.lab.WaitAnnounced(ctx, demoPatience, d.lab.Nodes...); err != nil {
		return err
	}
	d.say("the router's kernel has three next hops for %s", d.address)
	if err := d.run(ctx); err != nil {
		return err
	}
	return d.report()
}

// logJSON makes the agents' logs readable for the time line.
func logJSON(_ int, config map[string]any) {
	config["log"] = map[string]any{"format": "json"}
}

// demo is one run.
type demo struct {
	out     io.Writer
	lab     *topology.Lab
	address netip.Prefix

	victim  *topology.Node
	calm    map[string]int // answers by node before the fault
	records []load.Record
	events  []topology.RouteEvent // of the router's kernel, for the address

	killed, restarted time.Time
	left, back        time.Time // in the router's kernel
}

// say prints one step.
func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "* "+format+"\n", args...)
}

// run sends the questions and makes the fault under them.
func (d *demo) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := d.lab.Router.Watch(ctx)
	if err != nil {
		return err
	}
	client := d.ask(ctx)
	err = d.fault(ctx, events, client)
	d.records = client.end()
	return err
}

// client is the load under way.
type client struct {
	mu    sync.Mutex
	nodes map[string]int // answers so far, by node
	stop  context.CancelFunc
	done  chan []load.Record
}

// ask begins to send questions.
func (d *demo) ask(ctx context.Context) *client {
	server := netip.AddrPortFrom(d.address.Addr(), 53)
	d.say("the client asks %s %d times a second, in open loop, a new source "+
		"port each", server, demoRate)
	c := &client{nodes: map[string]int{}, done: make(chan []load.Record, 1)}
	ctx, c.stop = context.WithCancel(ctx)
	go func() {
		// The configuration is ours and right, so there is no error.
		records, _ := load.Run(ctx, load.Config{Rate: demoRate, Record: c.note,
			Servers: []netip.AddrPort{server}, Clients: []load.Network{{Do: d.lab.Client.Do}}})
		c.done <- records
	}()
	return c
}

// note counts one answer.
func (c *client) note(r load.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Node != "" {
		c.nodes[r.Node]++
	}
}

// shares are the answers by node so far.
func (c *client) shares() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.nodes)
}

// end stops asking and gives all records.
func (c *client) end() []load.Record {
	c.stop()
	return <-c.done
}

// fault kills the resolver that serves most, waits, and starts it again.
func (d *demo) fault(ctx context.Context, events <-chan topology.RouteEvent,
	c *client) error {
	if err := load.Pause(ctx, demoCalm); err != nil {
		return err
	}
	d.choose(c.shares())
	d.say("calm for %s, answers by node: %s", demoCalm, words(d.calm))
	d.say("SIGKILL to the resolver of %s, which served %d of them",
		d.victim.ShortName, d.calm[d.victim.ShortName])
	d.killed = time.Now()
	if err := d.victim.Resolver.Kill(); err != nil {
		return err
	}
	if d.victim.Resolver.Running() {
		return errors.New("the resolver still runs after SIGKILL")
	}
	var err error
	if d.left, err = d.follow(ctx, events, false); err != nil {
		return err
	}
	if err := load.Pause(ctx, demoOutage-time.Since(d.killed)); err != nil {
		return err
	}
	d.say("the resolver is started again")
	d.restarted = time.Now()
	if err := d.victim.Resolver.Start(); err != nil {
		return err
	}
	if d.back, err = d.follow(ctx, events, true); err != nil {
		return err
	}
	return load.Pause(ctx, demoCalm/2)
}

// choose takes the node that answered most as the victim.
func (d *demo) choose(shares map[string]int) {
	d.calm = shares
	d.victim = slices.MaxFunc(d.lab.Nodes, func(a, b *topology.Node) int {
		return shares[a.ShortName] - shares[b.ShortName]
	})
}

// follow waits until the router's kernel has, or has not, the victim as a next
// hop, and returns when it changed.
func (d *demo) follow(ctx context.Context, events <-chan topology.RouteEvent,
	want bool) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return time.Time{}, errors.New("lost sight of the router's routes")
			}
			if e.Prefix != d.address {
				continue
			}
			d.events = append(d.events, e)
			if slices.Contains(e.NextHops, d.victim.V4) == want {
				return e.At, nil
			}
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("%s did not %s the router's next "+
				"hops within %s\n%s", d.victim.ShortName,
				pick(want, "come back to", "leave"), demoPatience,
				d.victim.Agent.Log())
		}
	}
}

// words renders counts in the order of their names.
func words(counts map[string]int) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(out, ", ")
}

// pick chooses one of two words.
func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
