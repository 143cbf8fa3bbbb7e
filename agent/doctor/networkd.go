package doctor

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"recuse/agent/config"
)

// networkd looks at whether systemd-networkd takes the service's link for its
// own, or the routes of others for nobody's.
func networkd(b *Box) []Finding {
	if !b.runs("systemd-network") { // comm holds 15 bytes of a name
		return nil
	}
	var found []Finding
	guarded := false
	for _, s := range b.Config.Services {
		index, there := b.Indexes[s.Link.Name]
		if !there || s.Link.Kind == config.KindExisting {
			continue
		}
		text, err := b.read(fmt.Sprintf("/run/systemd/netif/links/%d", index))
		if file := valueOf(text, "NETWORK_FILE"); err == nil && file != "" {
			found = append(found, Finding{Severity: Warning,
				Seen: fmt.Sprintf("systemd-networkd sets up link %s by %s", s.Link.Name, file),
				Why:  "it sets the link up again, and flushes addresses that it did not set",
				WayOut: fmt.Sprintf("a file /etc/systemd/network/00-%s.network with [Match] Name=%s and [Link] Unmanaged=yes",
					s.Link.Name, s.Link.Name)})
		}
		guarded = guarded || len(v6Of(s)) > 0
	}
	if guarded && !b.sparesRoutes() {
		found = append(found, Finding{Severity: Note,
			Seen:   "systemd-networkd runs with ManageForeignRoutes=yes, the default",
			Why:    "when it starts again it deletes the unreachable IPv6 routes; the agent puts them back when it looks",
			WayOut: "ManageForeignRoutes=no under [Network] in /etc/systemd/networkd.conf"})
	}
	return found
}

// runs tells whether there is a process of that name.
func (b *Box) runs(name string) bool {
	list, _ := fs.Glob(b.Files, "proc/[0-9]*/comm")
	return slices.ContainsFunc(list, func(path string) bool {
		text, err := b.read("/" + path)
		return err == nil && text == name
	})
}

// networkdDirs hold networkd's settings, the first with the last word.
var networkdDirs = []string{"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd"}

// sparesRoutes tells whether networkd is told to leave the routes of others. A
// file of networkd.conf.d goes before networkd.conf, and by its name, not its
// directory, before other such files.
func (b *Box) sparesRoutes() bool {
	files, word := map[string]string{}, ""
	for _, dir := range networkdDirs {
		if text, err := b.read(dir + "/networkd.conf"); err == nil && word == "" {
			word = valueOf(text, "ManageForeignRoutes")
		}
		list, _ := fs.Glob(b.Files, strings.TrimPrefix(dir, "/")+"/networkd.conf.d/*.conf")
		for _, f := range list {
			if _, hidden := files[path.Base(f)]; !hidden {
				files[path.Base(f)] = f
			}
		}
	}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text, _ := b.read(files[name])
		word = or(valueOf(text, "ManageForeignRoutes"), word)
	}
	return slices.Contains([]string{"no", "false", "off", "0"}, strings.ToLower(word))
}

// valueOf finds the last value of a key in lines of KEY=VALUE.
func valueOf(text, key string) string {
	value := ""
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok && strings.TrimSpace(k) == key {
			value = strings.TrimSpace(v)
		}
	}
	return value
}
