package report

import (
	"cmp"
	"slices"
	"strings"
)

// kinds are the lanes of one party, in the order in which cause becomes effect.
var kinds = []string{"checks", "stance", "bgp", "bfd", "routes"}

// party splits a lane's name into whose it is and what it is.
func party(name string) (who, what string) {
	who, what, _ = strings.Cut(name, " ")
	return who, what
}

// byParty orders lanes: party by party, and those of one by kind.
func byParty(a, b string) int {
	whoA, whatA := party(a)
	whoB, whatB := party(b)
	return cmp.Or(cmp.Compare(rank(whoA), rank(whoB)), natural(whoA, whoB), cmp.Compare(kind(whatA), kind(whatB)),
		cmp.Compare(whatA, whatB))
}

// before are the parties between the clients and the nodes, from the clients on.
var before = []string{"relay", "router"}

// rank puts those before the nodes above them.
func rank(who string) int {
	if i := slices.Index(before, who); i >= 0 {
		return i
	}
	return len(before)
}

// natural orders names that end in numbers by them: n2 before n10.
func natural(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// kind is the place of a lane's kind in kinds.
func kind(what string) int {
	if i := slices.Index(kinds, what); i >= 0 {
		return i
	}
	return len(kinds)
}
