package config

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds what the aliases of a file may expand to.
const maxNodes = 100_000

// place is where in the file something stands.
type place struct{ line, column int }

// document walks a YAML file along the raw structs and makes of it the tree
// that viper takes: maps, lists and scalars. It is viper's decoder, since the
// usual one forgets what was written: 0500 becomes 320, and of two equal keys
// it names neither path. Keys and shapes that the structs do not allow become
// problems and are left out of the tree.
type document struct {
	path     string           // of the file, for problems that have no setting
	places   map[string]place // of every path that was seen
	problems Errors
	meant    []string // paths that were probably meant by unknown keys
	nodes    int
}

// Decode implements viper.Decoder. Problems of single settings are kept in the
// document; the error is a file that is no YAML mapping at all.
func (d *document) Decode(b []byte, tree map[string]any) error {
	root, err := d.parse(b)
	if err != nil {
		return err
	}
	for k, v := range d.mapping(root, reflect.TypeFor[rawConfig](), "") {
		tree[k] = v
	}
	if d.nodes > maxNodes {
		return d.broken(0, "its aliases expand to too much; repeat the settings in place of aliases")
	}
	return nil
}

// parse returns the mapping that the one document of a file consists of.
func (d *document) parse(b []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(strings.NewReader(string(b)))
	var root, more yaml.Node
	err := dec.Decode(&root)
	if errors.Is(err, io.EOF) {
		return nil, d.broken(0, "is empty; it needs bgp.asn, one peer, and one service with an address and a check")
	}
	if err != nil {
		return nil, d.syntax(b, err)
	}
	top := resolve(root.Content[0])
	if top.Kind != yaml.MappingNode {
		return nil, d.broken(top.Line, "must be a mapping of settings, not "+shape(top))
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, d.syntax(b, err)
		}
		return nil, d.broken(more.Line, "a second document begins here; a configuration is one")
	}
	return top, nil
}

// syntax turns an error of the YAML parser into a problem of the file.
func (d *document) syntax(b []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, text = n, after
		}
	}
	rule := "not YAML: " + text
	if unquoted(b) {
		rule += `; a value with {random} needs quotes, such as "{random}.lan"`
	}
	return d.broken(line, rule)
}

// unquoted reports whether a file has a {random} that YAML takes for a mapping.
func unquoted(b []byte) bool {
	return slices.ContainsFunc(strings.Split(string(b), "\n"), func(line string) bool {
		_, value, _ := strings.Cut(line, ":")
		return strings.HasPrefix(strings.TrimSpace(value), "{random}")
	})
}

// broken returns a problem of the file as a whole.
func (d *document) broken(line int, rule string) error {
	path := d.path
	if line > 0 {
		path = fmt.Sprintf("%s:%d", path, line)
	}
	return Errors{{Path: path, Rule: rule, Line: line}}
}

// report adds a problem of one node.
func (d *document) report(n *yaml.Node, path, rule string) {
	d.problems = append(d.problems,
		Problem{Path: path, Rule: rule, Line: n.Line, Column: n.Column})
}

// mapping walks a mapping along the fields of a struct.
func (d *document) mapping(n *yaml.Node, t reflect.Type, path string) map[string]any {
	tree := map[string]any{}
	fields := fieldsOf(t)
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolve(n.Content[i])
		at := join(path, key.Value)
		field, known := fields[key.Value]
		switch first, again := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			d.report(key, join(path, "?"), "a key must be a word, not "+shape(key))
		case key.ShortTag() == "!!merge":
			d.report(key, at, "merge keys are not supported; repeat the settings")
		case !known || key.Value == loneKey:
			d.unknown(key, fields, path)
		case again:
			d.report(key, at, fmt.Sprintf("given twice, first in line %d", first))
		default:
			seen[key.Value] = key.Line
			d.places[at] = place{key.Line, key.Column}
			if v, ok := d.value(n.Content[i+1], field, at); ok {
				tree[key.Value] = v
			}
		}
	}
	return tree
}

// unknown reports a key that no field has.
func (d *document) unknown(key *yaml.Node, fields map[string]reflect.Type, path string) {
	rule := "unknown key"
	if near := nearest(key.Value, fields); near != "" {
		rule += "; did you mean " + near + "?"
		d.meant = append(d.meant, join(path, near))
	}
	at := join(path, key.Value)
	if key.Value == "" {
		at = join(path, `""`)
	}
	d.report(key, at, rule)
}

// value walks one value along its type. It reports whether the value may be
// used.
func (d *document) value(n *yaml.Node, t reflect.Type, path string) (any, bool) {
	if d.nodes++; d.nodes > maxNodes {
		return nil, false
	}
	n = resolve(n)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[scalar]():
		return d.scalar(n, path)
	case t.Kind() == reflect.Slice:
		return d.list(n, t.Elem(), path)
	default:
		return d.section(n, t, path)
	}
}

// scalar takes a single value as it was written.
func (d *document) scalar(n *yaml.Node, path string) (any, bool) {
	switch {
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0:
		d.report(n, path, "must be a single value, not a mapping; a value with { in it needs quotes")
	case n.Kind != yaml.ScalarNode:
		d.report(n, path, "must be a single value, not "+shape(n))
	case n.ShortTag() == "!!null":
		d.report(n, path, "has no value; give it one or leave the key out")
	default:
		return scalar{text: n.Value}, true
	}
	return nil, false
}

// list walks a list. Items that may not be used are left out, and their
// problems keep the list from being judged any further.
func (d *document) list(n *yaml.Node, t reflect.Type, path string) (any, bool) {
	if n.Kind != yaml.SequenceNode {
		if n.ShortTag() == "!!null" {
			d.report(n, path, "has no value; give it a list or leave the key out")
		} else {
			d.report(n, path, "must be a list, not "+shape(n))
		}
		return nil, false
	}
	items := make([]any, 0, len(n.Content))
	for i, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.places[at] = place{item.Line, item.Column}
		v, ok := d.value(item, t, at)
		if !ok {
			v = zeroTree(t)
		}
		items = append(items, v)
	}
	return items, true
}

// zeroTree stands for an item that may not be used, so that those behind it
// keep their index.
func zeroTree(t reflect.Type) any {
	if t == reflect.TypeFor[scalar]() {
		return scalar{}
	}
	return map[string]any{}
}

// section walks a mapping, or the lone value that may stand in its place. One
// that is left empty has the defaults.
func (d *document) section(n *yaml.Node, t reflect.Type, path string) (any, bool) {
	_, lone := fieldsOf(t)[loneKey]
	switch {
	case n.Kind == yaml.MappingNode:
		return d.mapping(n, t, path), true
	case lone && n.Kind == yaml.ScalarNode:
		v, ok := d.scalar(n, path)
		return map[string]any{loneKey: v}, ok
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return map[string]any{}, true
	}
	if lone {
		d.report(n, path, "must be a word or a mapping of settings, not "+shape(n))
	} else {
		d.report(n, path, "must be a mapping of settings, not "+shape(n))
	}
	return nil, false
}

// loneKey is the key under which a section's lone value is kept.
const loneKey = "="

// fieldsOf returns the types of a raw struct's fields by their keys.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type, t.NumField())
	for f := range t.Fields() {
		fields[f.Tag.Get("yaml")] = f.Type
	}
	return fields
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// shape names what a node is.
func shape(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	default:
		return "a single value"
	}
}

// join returns the path of a key.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
