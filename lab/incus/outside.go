package incus

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"recuse/lab/bench"
	"recuse/lab/result"
	"recuse/lab/topology"
)

// lookEvery is the pause between two questions to a real router, or to the
// agents in its place; each costs a command.
const lookEvery = 500 * time.Millisecond

// outside is a real router.
type outside struct{ bench *network }

// raise connects the networks to the router and leaves the configuration that
// it needs in the cache.
func (r *outside) raise(ctx context.Context) error {
	text, err := r.bench.peering(ctx, r.bench.options.Router)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.configuration(), []byte(text), 0o644); err != nil {
		return fmt.Errorf("failed to write the router's configuration: %w", err)
	}
	r.bench.options.Log.Info(r.needs())
	for network, device := range r.bench.options.Uplinks {
		if err := r.bench.site.Uplink(ctx, network, device); err != nil {
			return err
		}
	}
	return nil
}

// configuration is the file that the router's is written to.
func (r *outside) configuration() string {
	return filepath.Join(r.bench.options.Cache, "router-"+r.bench.options.Router+".conf")
}

// needs says what the lab cannot do on somebody else's router.
func (r *outside) needs() string {
	return fmt.Sprintf("the router needs the configuration in %s and the addresses %v", r.configuration(), topology.RouterAddresses())
}

// leave leaves the router as it is.
func (*outside) leave() error { return nil }

// ready waits until every node announces by its own word, BFD is up and the
// router has its routes.
func (r *outside) ready(ctx context.Context) error {
	err := topology.WaitFor(ctx, "all nodes behind the router", func() (bool, string) {
		for _, n := range r.bench.nodes {
			if ok, saw := n.announces(ctx, true); !ok {
				return false, n.box.name + ": " + saw
			}
		}
		hops, err := r.NextHops(ctx)
		return err == nil && len(hops) == len(r.bench.nodes), fmt.Sprint(hops, err)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", r.needs(), err)
	}
	return nil
}

// settings is the report's line.
func (r *outside) settings() string {
	who := "the agents' own word"
	if r.bench.options.Routes != "" {
		who = "the router's word"
	}
	return "router: a real one; next hops by " + who
}

// versions is none: the router is not ours to ask.
func (*outside) versions(context.Context) map[string]string { return nil }

// watch asks again and again.
func (r *outside) watch(ctx context.Context, sources *sync.WaitGroup, tell func(result.Event)) error {
	last, err := r.NextHops(ctx)
	if err != nil {
		return err
	}
	tell(routes(time.Now(), last))
	sources.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if now, err := r.NextHops(ctx); err == nil && !slices.Equal(now, last) {
				tell(routes(time.Now(), now))
				last = now
			}
		}
	})
	return nil
}

// NextHops are the nodes in what the command for it prints, or those that
// announce by their own word.
func (r *outside) NextHops(ctx context.Context) ([]string, error) {
	names := []string{}
	command := r.bench.options.Routes
	if command == "" {
		for _, n := range r.bench.nodes {
			if ok, _ := n.announces(ctx, false); ok {
				names = append(names, n.box.name)
			}
		}
		return names, nil
	}
	out, err := exec.CommandContext(ctx, "sh", "-c", command).Output()
	if err != nil {
		return nil, fmt.Errorf("failed to ask the router: %w", err)
	}
	words := strings.FieldsFunc(string(out), func(c rune) bool { return !strings.ContainsRune("0123456789.", c) })
	for _, n := range r.bench.nodes {
		if slices.Contains(words, n.guest.V4.String()) {
			names = append(names, n.box.name)
		}
	}
	return names, nil
}

// Restart is not for the lab to do.
func (*outside) Restart(context.Context) error {
	return fmt.Errorf("a restart of a real router: %w", bench.ErrUnsupported)
}

// Resilient is neither.
func (*outside) Resilient(context.Context, bool) error {
	return fmt.Errorf("resilient groups of a real router: %w", bench.ErrUnsupported)
}

// Wide cuts the internet off at its own end.
func (r *outside) Wide(ctx context.Context, cut bool) error {
	return r.bench.site.CutInternet(ctx, cut)
}

// asked is how long a node has to say how it stands; a frozen one says nothing.
const asked = 2 * time.Second

// announces reports whether the node's agent says that it announces the service
// over sessions that are up, and if asked that their BFD is.
func (n *node) announces(ctx context.Context, bfd bool) (ok bool, saw string) {
	ctx, cancel := context.WithTimeout(ctx, asked)
	defer cancel()
	// The exit status says whether all is announced, so it is no failure.
	out, runErr := n.box.run(ctx, "sh", "-c", "recuse status --json || true")
	var s topology.Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		return false, fmt.Sprint("no status: ", err, " ", runErr)
	}
	for _, p := range s.Peers {
		if !strings.EqualFold(p.State, "established") || bfd && (p.BFD == nil || p.BFD.State != "UP" || p.BFD.Remote != "UP") {
			return false, out
		}
	}
	for _, service := range s.Services {
		for _, a := range service.Addresses {
			if a.Prefix == serviceAddress && a.Announced {
				return true, ""
			}
		}
	}
	return false, out
}
