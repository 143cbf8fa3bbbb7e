package doctor

import (
	"cmp"
	"slices"
)

// examination is one thing that is looked at.
type examination struct {
	name string
	run  func(*Box) []Finding
}

// examinations are all of them, in the order of the report.
var examinations = []examination{
	{"settings", settings},
	{"agent", running},
	{"service", services},
	{"peer", peers},
	{"bfd", bfdSessions},
	{"others", others},
	{"route", routes},
	{"next-hop", nextHops},
	{"hold-time", holdTimes},
	{"source-address", sources},
	{"rp-filter", rpFilter},
	{"subnet", subnets},
	{"link", links},
	{"ipv6", ipv6},
	{"unreachable-route", guards},
	{"forwarding", forwarding},
	{"network-manager", networkd},
	{"answer", answers},
	{"local-name", localNames},
	{"listener", listeners},
	{"tripwire", tripwires},
	{"bfd-port", bfdPorts},
	{"bgp-port", bgpPort},
	{"firewall", firewall},
	{"conntrack", conntrack},
	{"capability", capabilities},
	{"scheduling", scheduling},
	{"state-dir", stateDir},
	{"control-group", controlGroup},
}

// Examine judges what was read of a box.
func Examine(b *Box) Report {
	r := Report{Findings: []Finding{}}
	for _, e := range examinations {
		r.Examinations = append(r.Examinations, e.name)
		for _, f := range e.run(b) {
			f.Examination = e.name
			r.Findings = append(r.Findings, f)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Compare(a.Severity, b.Severity)
	})
	return r
}
