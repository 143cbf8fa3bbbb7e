package doctor

import (
	"fmt"
	"io/fs"
	"strings"
)

// canMake looks at whether the kernel has a kind of link.
func (b *Box) canMake(at, kind string) []Finding {
	has, err := b.hasKind(kind)
	switch {
	case err != nil:
		return unread(err, "whether the kernel can make a link of kind "+kind+" shows at the start of the agent")
	case has:
		return nil
	}
	return []Finding{{Severity: Error, Seen: at + "kind: " + kind + ": this kernel has no such link",
		Why:    "the agent cannot make the link that carries the addresses",
		WayOut: "modprobe " + kind + " if the module is in a package (linux-modules-extra), or kind: ifb, or kind: bridge"}}
}

// hasKind tells whether the kernel has a kind of link, as a module or built in.
func (b *Box) hasKind(kind string) (bool, error) {
	release, err := b.sysctl("kernel/osrelease")
	if err != nil {
		return false, err
	}
	if _, err := fs.Stat(b.Files, "sys/module/"+kind); err == nil {
		return true, nil
	}
	listed := false
	for _, list := range []string{"modules.dep", "modules.builtin"} {
		text, err := b.read("/lib/modules/" + release + "/" + list)
		listed = listed || err == nil
		if strings.Contains(text, "/"+kind+".ko") {
			return true, nil
		}
	}
	if listed {
		return false, nil
	}
	return b.builtIn(kind)
}

// builtIn asks the kernel's own configuration, for a kernel without a list of
// modules.
func (b *Box) builtIn(kind string) (bool, error) {
	text, err := b.kernelConfig()
	if err != nil {
		return false, fmt.Errorf("neither /lib/modules nor the kernel's configuration can be read: %w", err)
	}
	option := "\nCONFIG_" + strings.ToUpper(kind)
	if strings.Contains(text, option+"=m\n") {
		return false, fmt.Errorf("%s is a module of this kernel, and there is no list of those at hand in /lib/modules", kind)
	}
	return strings.Contains(text, option+"=y\n"), nil
}
