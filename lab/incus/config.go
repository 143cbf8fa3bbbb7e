package incus

import (
	"fmt"
	"net/netip"

	"go.yaml.in/yaml/v3"

	"recuse/lab/bench/pace"
	"recuse/lab/topology"
)

// site is the lab that the containers are guests of.
func (o Options) site() topology.Options {
	return topology.Options{
		Recuse: o.Recuse, Clients: o.Clients, Nodes: o.Nodes, Spares: 1, BFD: pace.BFD(o.Tuned),
		ResolverExtra: pace.Unbound(o.ServeStale, o.MaxTTL), Log: o.Log, Keep: o.Keep,
	}
}

// files writes what a node reads: its resolver's configuration and recuse's.
func (o Options) files(site *topology.Lab, b *box, index int) error {
	recuse, unbound := site.GuestConfig(index)
	pace.Recuse(recuse, o.Tuned)
	text, err := yaml.Marshal(recuse)
	if err != nil {
		return fmt.Errorf("failed to encode recuse.yaml of %s: %w", b.name, err)
	}
	if err := b.write("recuse/recuse.yaml", string(text)); err != nil {
		return err
	}
	b.mounts["/etc/recuse"] = b.dir + "/recuse"
	b.mounts["/usr/local/bin/recuse"] = o.Recuse
	if o.AdGuardHome == "" {
		return b.write("unbound.conf", unbound)
	}
	b.mounts["/usr/local/bin/AdGuardHome"] = o.AdGuardHome
	text, err = yaml.Marshal(o.adguard(site.Authority.Addresses()))
	if err != nil {
		return fmt.Errorf("failed to encode AdGuardHome.yaml of %s: %w", b.name, err)
	}
	return b.write("AdGuardHome.yaml", string(text))
}

// adguard is AdGuard Home's configuration: it forwards to the authority, the
// home's zone to the address that has it.
func (o Options) adguard(internet, lan netip.Addr) map[string]any {
	off := map[string]any{"enabled": false}
	return map[string]any{
		"schema_version": 29,
		"http":           map[string]any{"address": "127.0.0.1:3000"},
		"users":          []any{},
		"dns": map[string]any{
			"bind_hosts": []string{"0.0.0.0", "::"}, "port": 53, "ratelimit": 0,
			"upstream_dns": []string{internet.String(), "[/lan/]" + lan.String()}, "bootstrap_dns": []string{}, "upstream_timeout": "2s",
			"cache_enabled": true, "cache_size": 4 << 20, "cache_optimistic": o.ServeStale,
			"cache_ttl_max": int(o.MaxTTL.Seconds()),
		},
		"filtering": map[string]any{"filtering_enabled": false, "protection_enabled": false},
		"querylog":  off, "statistics": off,
	}
}

// routerLog is what the lab adds to FRR's configuration.
const routerLog = "log file /lab/log/frr.log\nlog timestamp precision 3\n"
