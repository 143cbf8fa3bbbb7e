package netlinkx

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// NFTables tells whether there is a table of nftables, which that of iptables-nft
// is too, in the network namespace of the calling thread. There is none in a
// kernel without them.
func NFTables() (bool, error) {
	req := nl.NewNetlinkRequest(unix.NFNL_SUBSYS_NFTABLES<<8|unix.NFT_MSG_GETTABLE, unix.NLM_F_DUMP)
	req.AddData(&nl.Nfgenmsg{NfgenFamily: unix.NFPROTO_UNSPEC, Version: nl.NFNETLINK_V0})
	var tables [][]byte
	err := retry(func() (err error) {
		tables, err = req.Execute(unix.NETLINK_NETFILTER, 0)
		return err
	})
	switch {
	case errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		return false, nil // what the kernel says of a part that it lacks
	case err != nil:
		return false, fmt.Errorf("failed to look for tables of nftables: %w", err)
	}
	return len(tables) > 0, nil
}
