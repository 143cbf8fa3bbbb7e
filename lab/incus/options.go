package incus

import (
	"debug/elf"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"recuse/lab/topology"
)

// Options say what to raise. The zero value but for Recuse is three nodes with
// recuse at its defaults.
type Options struct {
	Recuse string // path of the recuse binary; recuse-authority is beside it
	Unit   string // path of recuse.service; default deploy/systemd/recuse.service
	Cache  string // directory of the image; default out/incus
	Mirror string // of Debian; default: the one that apt uses

	Nodes   int  // 3 by default
	Clients int  // 1 by default
	Tuned   bool // recuse as fast as its settings go

	ServeStale bool          // the resolvers answer from expired cache (RFC 8767)
	MaxTTL     time.Duration // how long the resolvers keep a name at most; 0: as long as it says

	// AdGuardHome is the path of its binary, which Debian does not have; with it
	// the nodes run it in unbound's place. It tells nobody who answered.
	AdGuardHome string

	// Uplinks put a real router in the place of FRR in a container: of each of the
	// lab's networks (clients, lan, wan) the machine's interface that leads to it,
	// say those of three VLANs. The router must have the addresses that
	// topology.RouterAddresses says, forward between them, and take the
	// configuration of `recuse peering`, which New leaves in the cache.
	Uplinks map[string]string
	Router  string // its kind, as `recuse peering --router` calls it; default frr
	// Routes is a shell command that prints the router's route to the service
	// address, by ssh perhaps: the nodes whose addresses are in it are its next
	// hops. Without it the agents are asked what they announce.
	Routes string

	Arch    string // of the containers, as Go calls it; default: the machine's
	Emulate bool   // another one is emulated; else it is refused, for its times say nothing

	Log  *slog.Logger // none: silence
	Keep bool         // leave the run directory of the clients and the authority behind
}

// debian is what Debian calls an architecture, and Incus.
var debian = map[string]struct {
	debian, incus string
	machine       elf.Machine
}{
	"amd64": {"amd64", "x86_64", elf.EM_X86_64},
	"arm64": {"arm64", "aarch64", elf.EM_AARCH64},
}

// Check refuses what New would, before anything is made.
func (o Options) Check() error {
	_, err := o.withDefaults()
	return err
}

// withDefaults fills in what was left out and refuses what cannot be.
func (o Options) withDefaults() (Options, error) {
	for _, d := range []struct {
		value *string
		is    string
	}{
		{&o.Unit, "deploy/systemd/recuse.service"}, {&o.Cache, "out/incus"}, {&o.Arch, runtime.GOARCH}, {&o.Router, topology.FRR},
	} {
		if *d.value == "" {
			*d.value = d.is
		}
	}
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Clients == 0 {
		o.Clients = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Nodes < 2 {
		return o, fmt.Errorf("nodes %d: must be at least 2", o.Nodes)
	}
	if err := o.uplinks(); err != nil {
		return o, err
	}
	if _, ok := debian[o.Arch]; !ok {
		return o, fmt.Errorf("arch %q: must be amd64 or arm64", o.Arch)
	}
	if o.Arch != runtime.GOARCH && !o.Emulate {
		return o, fmt.Errorf("arch %s: this machine is %s, and emulated times say nothing", o.Arch, runtime.GOARCH)
	}
	return o, o.absolute()
}

// uplinks refuses a router that is on some of the networks only, and what is for
// a real router without one.
func (o Options) uplinks() error {
	if len(o.Uplinks) == 0 {
		if o.Router != topology.FRR || o.Routes != "" {
			return errors.New("router: another than FRR needs uplinks that lead to it")
		}
		return nil
	}
	for network := range o.Uplinks {
		if !slices.Contains(topology.RouterPorts, network) {
			return fmt.Errorf("uplinks: %s: is no network of the lab: they are %v", network, topology.RouterPorts)
		}
	}
	for _, network := range topology.RouterPorts {
		device := o.Uplinks[network]
		if device == "" {
			return fmt.Errorf("uplinks: %s: must name an interface, as for all of %v", network, topology.RouterPorts)
		}
		if _, err := net.InterfaceByName(device); err != nil {
			return fmt.Errorf("uplinks: %s: this machine has no interface %q", network, device)
		}
	}
	return nil
}

// absolute makes the paths absolute, since incusd is elsewhere, and looks at
// the programs.
func (o *Options) absolute() error {
	for _, path := range []*string{&o.Recuse, &o.Unit, &o.Cache, &o.AdGuardHome} {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("failed to find %s: %w", *path, err)
		}
		*path = abs
	}
	if _, err := os.Stat(o.Unit); err != nil {
		return fmt.Errorf("failed to find the unit: %w", err)
	}
	if err := runsOn(o.Recuse, o.Arch); err != nil {
		return err
	}
	if o.AdGuardHome == "" {
		return nil
	}
	return runsOn(o.AdGuardHome, o.Arch)
}

// runsOn refuses a program that is made for another architecture.
func runsOn(path, arch string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("failed to read program %q: %w", path, err)
	}
	defer f.Close()
	if f.Machine != debian[arch].machine {
		return fmt.Errorf("program %s: is for %v, and the containers are %s", path, f.Machine, arch)
	}
	return nil
}
