package main

import (
	"fmt"
	"slices"
	"strings"

	"recuse/lab/load"
)

// join lists values for people.
func join(values []string) string { return strings.Join(values, ", ") }

// transports are those of the load.
func transports() []string {
	var names []string
	for _, t := range load.Transports() {
		names = append(names, string(t))
	}
	return names
}

// known refuses a flag's value that there is not.
func known(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("%w: --%s: %q: must be one of %s", errUsage, flag, value, join(values))
}
