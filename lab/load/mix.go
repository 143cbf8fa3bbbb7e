package load

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"recuse/lab/authority"
)

// random stands in a name for a label that has never been asked for.
const random = "{random}"

// Mix is the names that a run asks for, in turn.
type Mix []string

// Household is a home's mix: six popular names that a resolver soon has cached,
// two of the internet that nobody has asked for before, two of the home zone,
// one of them new.
func Household() Mix {
	fresh := random + "." + authority.Fresh
	return append(Mix(authority.Popular()), fresh, fresh, authority.Hosts()[1], random+"."+authority.LAN)
}

// name is the name of question i.
func (m Mix) name(i int) string {
	name := m[i%len(m)]
	if !strings.Contains(name, random) {
		return name
	}
	return strings.ReplaceAll(name, random, fmt.Sprintf("%016x", rand.Uint64()))
}
