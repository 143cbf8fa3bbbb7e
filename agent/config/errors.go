package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	Path   string // of the setting, or the name of an environment variable
	Value  string // as it was written; empty where there is none
	Empty  bool   // the value is there, and is the empty text
	Rule   string // what is wrong with it, and the way out
	Line   int    // in the file; 0 for an environment variable
	Column int
}

// Error returns the problem as a line: path, value in quotes, rule.
func (p Problem) Error() string {
	if p.Value == "" && !p.Empty {
		return p.Path + ": " + p.Rule
	}
	return p.Path + ": " + strconv.Quote(p.Value) + ": " + p.Rule
}

// Errors are all problems of a configuration, in the order of the file;
// problems of environment variables come first.
type Errors []Problem

// Error returns one line for each problem.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, p := range e {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// sort brings the problems into the order of the file. Those of one place
// stay in the order in which they were found.
func (e Errors) sort() {
	slices.SortStableFunc(e, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
