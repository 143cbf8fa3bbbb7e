package quest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/topology"
)

// askWithin bounds a lookup, as most stubs' first attempt does.
const askWithin = 2 * time.Second

// bed is a lab with a node whose resolver is exchanged.
type bed struct {
	*topology.Lab
	node *topology.Node
	runs int
}

// newBed raises the lab. Its router forwards and needs no daemon.
func newBed(ctx context.Context, o Options) (*bed, error) {
	lab, err := topology.New(ctx, topology.Options{
		Nodes:         1,
		Authority:     append(o.Authority[:len(o.Authority):len(o.Authority)], "-leases", strconv.Itoa(o.Leases)),
		WithoutRouter: true, WithoutResolver: true, WithoutAgent: true,
		Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	return &bed{Lab: lab, node: lab.Nodes[0]}, nil
}

// start starts a resolver with an empty cache and waits until it answers. The
// process that it returns is to be ended.
func (b *bed) start(ctx context.Context, r resolver, program string, limit int) (*topology.Process, error) {
	b.runs++
	name := fmt.Sprintf("%s-%d", r.name, b.runs)
	internet, home := b.Authority.Addresses()
	s := site{dir: b.node.Dir, listen: b.node.V4, internet: internet, home: home, limit: r.setting(limit)}
	if err := b.node.WriteFile(name+".conf", r.config(s)); err != nil {
		return nil, err
	}
	p := b.node.Add(name, func() []string { return r.argv(program, filepath.Join(b.node.Dir, name+".conf")) })
	p.Ready = func() (bool, string) { return b.answers(ctx) }
	if err := p.Launch(ctx); err != nil {
		return nil, errors.Join(err, p.End())
	}
	return p, nil
}

// answers asks for names that no run asks for: the way to the internet and the
// way home are there.
func (b *bed) answers(ctx context.Context) (ok bool, saw string) {
	for _, name := range []string{authority.Hosts()[0], authority.Large} {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		m, err := b.Client.Ask(ctx, b.node.V4, name, dns.TypeA)
		cancel()
		if err != nil {
			return false, err.Error()
		}
		if len(m.Answer) == 0 {
			return false, name + " " + dns.RcodeToString[m.Rcode]
		}
	}
	return true, ""
}

// each raises a bed and runs f on it for each chosen resolver that is installed,
// one after the other; those that are not are left out, with the reason.
func each(ctx context.Context, o Options, out *[]LeftOut,
	f func(b *bed, r resolver, program, version string) error) (err error) {
	chosen, err := choose(o.Resolvers)
	if err != nil {
		return err
	}
	b, err := newBed(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, r := range chosen {
		program, err := r.find()
		if err != nil {
			*out = append(*out, LeftOut{r.name, err.Error()})
			continue
		}
		if err := f(b, r, program, r.asks(ctx, program)); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}
