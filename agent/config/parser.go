package config

import (
	"fmt"
	"strings"
)

// parser turns the raw text of a file into values and gathers what is wrong
// with it.
type parser struct {
	places   map[string]place
	problems Errors
	warnings []string
	excused  []string // paths that have a problem of their shape already
}

// newParser returns a parser that goes on where the document ended.
func newParser(d *document) *parser {
	p := &parser{places: d.places, problems: d.problems}
	for _, path := range d.meant {
		// What is there besides its misspelling is judged for itself.
		if _, there := d.places[path]; !there {
			p.excused = append(p.excused, path)
		}
	}
	for _, problem := range d.problems {
		p.excused = append(p.excused, problem.Path)
	}
	return p
}

// fail reports a value. A nil s is a setting that is absent, or a list.
func (p *parser) fail(path string, s *scalar, rule string, args ...any) {
	if p.isExcused(path) {
		return
	}
	problem := newProblem(path, s, fmt.Sprintf(rule, args...))
	if s != nil && s.env {
		problem.Path = envName(path)
	} else {
		at := p.place(path)
		problem.Line, problem.Column = at.line, at.column
	}
	p.problems = append(p.problems, problem)
}

// warn notes a value that is legal and probably not meant.
func (p *parser) warn(path string, s *scalar, rule string, args ...any) {
	if s != nil && s.env {
		path = envName(path)
	}
	problem := newProblem(path, s, fmt.Sprintf(rule, args...))
	p.warnings = append(p.warnings, problem.Error())
}

// isExcused reports whether a path, or one above it, was misshapen, so that
// what it lacks was reported already.
func (p *parser) isExcused(path string) bool {
	for _, e := range p.excused {
		rest, ok := strings.CutPrefix(path, e)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// place returns where a path stands, or where that stands which should have
// held it.
func (p *parser) place(path string) place {
	for path != "" {
		if at, ok := p.places[path]; ok {
			return at
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return place{line: 1}
}

// newProblem returns the problem of a value, which is cut where it is very
// long.
func newProblem(path string, s *scalar, rule string) Problem {
	const most = 200
	problem := Problem{Path: path, Rule: rule}
	switch {
	case s == nil:
	case len(s.text) > most:
		problem.Value = s.text[:most] + "..."
	default:
		problem.Value, problem.Empty = s.text, s.text == ""
	}
	return problem
}

// index returns the path of an item of a list.
func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
