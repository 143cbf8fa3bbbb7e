package quest

import (
	"fmt"
	"path/filepath"
)

// knot is one process, as it comes; a site with more cores starts more of them.
// Version 5 has no limit of the rate.
var knot = resolver{
	name: "knot-resolver", note: "forwards", program: "kresd", debian: "knot-resolver", version: []string{"-V"},
	config: func(s site) string {
		return fmt.Sprintf(`net.listen(%q, 53, { kind = 'dns' })
trust_anchors.remove('.')
policy.add(policy.suffix(policy.STUB({%q}), policy.todnames({'lan.', '10.in-addr.arpa.'})))
policy.add(policy.all(policy.STUB({%q})))
`, s.listen, s.home.String(), s.internet.String())
	},
	argv: func(program, config string) []string {
		return []string{program, "-n", "-c", config, filepath.Dir(config)}
	},
}
