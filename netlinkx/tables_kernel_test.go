package netlinkx_test

import (
	"os/exec"
	"testing"

	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
)

// TestNFTables looks for tables in a namespace that has none, then one.
func TestNFTables(t *testing.T) {
	netlinktest.NewNS(t)
	some, err := netlinkx.NFTables()
	must(t, err)
	if some {
		t.Error("there are tables in a new namespace")
	}
	if out, err := exec.Command("nft", "add", "table", "inet", "f").CombinedOutput(); err != nil {
		t.Skipf("skipped: nft makes no table here: %v: %s", err, out)
	}
	some, err = netlinkx.NFTables()
	must(t, err)
	if !some {
		t.Error("the table is not seen")
	}
}
