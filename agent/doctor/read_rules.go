package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"recuse/netlinkx"
)

// listWithin bounds the listing of a packet filter.
const listWithin = 10 * time.Second

// readRules lists the packet filter. nft shows the rules of iptables-nft too.
func readRules(ctx context.Context) (Ruleset, error) {
	path, err := exec.LookPath("nft")
	if err != nil {
		path = "/usr/sbin/nft" // not in the PATH of everybody
	}
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-j", "list", "ruleset")
	var said strings.Builder
	cmd.Stderr = &said
	text, err := cmd.Output()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Ruleset{}, withoutNFT()
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return Ruleset{}, fmt.Errorf("failed to list the packet filter: %w: %s", err, first)
	}
	rules, err := ParseRules(text)
	if err == nil {
		err = legacyTables()
	}
	return rules, err
}

// withoutNFT says whether there may be rules that nobody can list.
func withoutNFT() error {
	switch some, err := netlinkx.NFTables(); {
	case err != nil:
		return err
	case some:
		return errors.New("the packet filter cannot be listed: there is no nft (package nftables)")
	}
	return legacyTables()
}

// legacyTables tells of tables of the old iptables, which nft does not show.
func legacyTables() error {
	for _, file := range []string{"ip_tables_names", "ip6_tables_names"} {
		names, err := os.ReadFile("/proc/thread-self/net/" + file)
		if errors.Is(err, os.ErrPermission) {
			return fmt.Errorf("failed to look for tables of iptables: %w", err)
		}
		if strings.Contains("\n"+string(names), "\nfilter\n") {
			return errors.New("there is a filter table of iptables-legacy, which is not judged: see iptables-legacy -S")
		}
	}
	return nil
}
