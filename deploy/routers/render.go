package routers

import (
	"embed"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates/*.tmpl
var files embed.FS

// dialects maps a router's name to its template and the parts of it, in order.
func dialects() map[string]dialect {
	return map[string]dialect{
		"bird":            {file: "bird.tmpl", parts: []string{"bird"}},
		"frr":             {file: "frr.tmpl", parts: []string{"zebra", "bfdd", "bgpd"}},
		"routeros":        {file: "routeros.tmpl", parts: []string{"routeros"}},
		"routeros-pre720": {file: "routeros.tmpl", parts: []string{"routeros-pre720"}},
	}
}

// A dialect is one way to write a plan: parts are the template's defined blocks.
type dialect struct {
	file  string
	parts []string
}

// Names returns the routers that Render knows, sorted: bird (2 and 3), frr (8.4
// and later, also inside VyOS, OPNsense, UniFi), routeros (7.20 and later) and
// routeros-pre720 (RouterOS 7 before 7.20, whose BGP menus differ).
func Names() []string { return slices.Sorted(maps.Keys(dialects())) }

// Render returns the router's side of the nodes as a user would paste it. The
// error names every fault of every node.
func Render(router string, nodes []Node) (string, error) {
	parts, order, err := render(router, nodes)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, name := range order {
		if i > 0 {
			b.WriteString("!\n")
		}
		b.WriteString(parts[name])
	}
	return b.String(), nil
}

// RenderDaemons returns the router's side of the nodes as one file for each
// daemon, for routers whose daemons are started by hand: for frr the keys are
// zebra, bfdd (empty of settings if no node has BFD) and bgpd, else the router.
func RenderDaemons(router string, nodes []Node) (map[string]string, error) {
	parts, _, err := render(router, nodes)
	return parts, err
}

// render returns the parts of a router's text and their order.
func render(router string, nodes []Node) (map[string]string, []string, error) {
	d, ok := dialects()[router]
	if !ok {
		return nil, nil, fmt.Errorf("unknown router %q: known are %s", router, strings.Join(Names(), ", "))
	}
	if err := check(nodes); err != nil {
		return nil, nil, fmt.Errorf("failed to write the side of router %s:\n%w", router, err)
	}
	t, err := template.New(d.file).Funcs(functions()).ParseFS(files, "templates/"+d.file)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to parse template of router %s: %w", router, err)
	}
	p, parts := newPlan(nodes), map[string]string{}
	for _, name := range d.parts {
		var b strings.Builder
		if err := t.ExecuteTemplate(&b, name, p); err != nil {
			return nil, nil, fmt.Errorf("failed to fill template %s of router %s: %w", name, router, err)
		}
		parts[name] = b.String()
	}
	return parts, d.parts, nil
}

// functions are what the templates call.
func functions() template.FuncMap {
	return template.FuncMap{
		"join": strings.Join,
		// beside is what stands in comments about the box that the daemons run on.
		"beside": beside,
		// seq numbers the entries of a list in steps of five, which leaves room
		// for an operator's own.
		"seq": func(i int) int { return 5 * (i + 1) },
		// list writes a prefix set of BIRD.
		"list": func(prefixes []netip.Prefix) string {
			return strings.ReplaceAll(strings.Trim(fmt.Sprint(prefixes), "[]"), " ", ", ")
		},
		// families names what a group's sessions carry, as RouterOS does.
		"families": families,
		// escape guards the one sign of a password that a RouterOS string reads.
		"escape": func(s string) string { return strings.ReplaceAll(s, "$", `\$`) },
	}
}

// families names the address families of a group, as RouterOS does.
func families(g *group) string {
	switch {
	case len(g.V6) == 0:
		return "ip"
	case len(g.V4) == 0:
		return "ipv6"
	}
	return "ip,ipv6"
}
