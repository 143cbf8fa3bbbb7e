package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"unicode"
)

// Change is one setting in which two configurations differ.
type Change struct {
	Path string
	// Old and New are the values; empty where the setting, or the part that it
	// belongs to, does not exist. Passwords are never shown.
	Old, New string
}

// String renders the change in a line.
func (c Change) String() string {
	switch {
	case c.Old == "":
		return fmt.Sprintf("%s: added: %s", c.Path, c.New)
	case c.New == "":
		return fmt.Sprintf("%s: removed: %s", c.Path, c.Old)
	}
	return fmt.Sprintf("%s: %s -> %s", c.Path, c.Old, c.New)
}

// Diff lists the differences of two configurations, in the order of the
// settings. Services, checks and peers are matched by name and address, not by
// their place in the list. Where the files are, and what was warned of, is no
// difference.
func Diff(before, after *Config) []Change {
	var d differ
	a, b := *before, *after
	a.Path, b.Path, a.Warnings, b.Warnings = "", "", nil, nil
	d.values("", reflect.ValueOf(a), reflect.ValueOf(b))
	return d.changes
}

// differ walks two values of one type.
type differ struct{ changes []Change }

// values compares two values at a path.
func (d *differ) values(path string, a, b reflect.Value) {
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return
	}
	switch {
	case keyed(a.Type()):
		d.lists(path, a, b)
	case a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil():
		d.values(path, a.Elem(), b.Elem())
	case a.Kind() == reflect.Struct && open(a.Type()):
		d.structs(path, a, b)
	default:
		d.add(path, show(path, a), show(path, b))
	}
}

// add notes a change.
func (d *differ) add(path, before, after string) {
	d.changes = append(d.changes, Change{path, before, after})
}

// structs compares field by field; an embedded struct's are its holder's.
func (d *differ) structs(path string, a, b reflect.Value) {
	for i := range a.NumField() {
		f := a.Type().Field(i)
		at := path
		if !f.Anonymous {
			at = join(path, key(f.Name))
		}
		d.values(at, a.Field(i), b.Field(i))
	}
}

// lists compares elements that have a name of their own.
func (d *differ) lists(path string, a, b reflect.Value) {
	index := func(v reflect.Value) (names []string, m map[string]reflect.Value) {
		m = map[string]reflect.Value{}
		for i := range v.Len() {
			n := name(v.Index(i))
			names, m[n] = append(names, n), v.Index(i)
		}
		return names, m
	}
	oldNames, olds := index(a)
	newNames, news := index(b)
	for _, n := range oldNames {
		at := fmt.Sprintf("%s[%s]", path, n)
		if after, ok := news[n]; ok {
			d.values(at, olds[n], after)
		} else {
			d.add(at, "present", "")
		}
	}
	for _, n := range newNames {
		if _, ok := olds[n]; !ok {
			d.add(fmt.Sprintf("%s[%s]", path, n), "", "present")
		}
	}
}

// keyed tells whether elements of a list have a name.
func keyed(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Struct {
		return false
	}
	for _, f := range []string{"Name", "Address", "Peer"} {
		if _, ok := t.Elem().FieldByName(f); ok {
			return true
		}
	}
	return false
}

// name is what an element is known by.
func name(v reflect.Value) string {
	for _, f := range []string{"Name", "Address", "Peer"} {
		if x := v.FieldByName(f); x.IsValid() {
			return fmt.Sprint(x.Interface())
		}
	}
	return ""
}

// open tells whether a struct is one of settings: those with unexported fields,
// such as addresses, are values.
func open(t reflect.Type) bool {
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return false
		}
	}
	return t.NumField() > 0
}

// show renders a value.
func show(path string, v reflect.Value) string {
	switch {
	case strings.HasSuffix(path, "password"):
		if v.IsZero() {
			return "none"
		}
		return "(secret)"
	case v.Kind() == reflect.Pointer && v.IsNil():
		return ""
	case v.Kind() == reflect.Pointer:
		return "present"
	case v.IsZero() && v.Type() == reflect.TypeFor[netip.Addr]():
		return "none"
	case v.Kind() == reflect.String:
		return fmt.Sprintf("%q", v.String())
	}
	return fmt.Sprint(v.Interface())
}

// key is a field's name as a file spells it: HoldTime is hold_time, and a run
// of capitals is one word.
func key(field string) string {
	var out strings.Builder
	runes := []rune(field)
	for i, r := range runes {
		starts := unicode.IsUpper(r) && i > 0 &&
			(unicode.IsLower(runes[i-1]) ||
				i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if starts {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
