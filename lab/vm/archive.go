package vm

import (
	"fmt"
	"io"
	"path"
)

// An archive is a cpio file in the form that the kernel unpacks at boot: "newc",
// Documentation/driver-api/early-userspace/buffer-format.rst.
type archive struct {
	w    io.Writer
	err  error           // the first one, which ends all writing
	dirs map[string]bool // already written
	n    int             // entries so far, the inode numbers
}

// Types of an entry, the upper bits of its mode (inode(7)).
const (
	typeDir  = 0o040000
	typeFile = 0o100000
)

// newArchive returns an archive that is written to w.
func newArchive(w io.Writer) *archive {
	return &archive{w: w, dirs: map[string]bool{".": true}}
}

// dir writes a directory and those above it, each once. Names have no leading
// slash: the archive is unpacked into the root.
func (a *archive) dir(name string) {
	if a.dirs[name] {
		return
	}
	a.dirs[name] = true
	a.dir(path.Dir(name))
	a.entry(name, typeDir|0o755, nil)
}

// file writes an executable file, after the directories above it.
func (a *archive) file(name string, data []byte) {
	a.dir(path.Dir(name))
	a.entry(name, typeFile|0o755, data)
}

// close writes the end mark and returns the first error of all writing.
func (a *archive) close() error {
	a.entry("TRAILER!!!", 0, nil)
	return a.err
}

// entry writes a header of 14 fields in hexadecimal, the name, and the data, the
// last two padded to a multiple of four bytes.
func (a *archive) entry(name string, mode int, data []byte) {
	a.n++
	const links, uid, gid, mtime, device, check = 1, 0, 0, 0, 0, 0
	header := "070701"
	for _, field := range []int{
		a.n, mode, uid, gid, links, mtime, len(data),
		device, device, device, device, len(name) + 1, check,
	} {
		header += fmt.Sprintf("%08x", field)
	}
	a.padded([]byte(header + name + "\x00"))
	a.padded(data)
}

// padded writes data and zeros up to a multiple of four bytes.
func (a *archive) padded(data []byte) {
	for _, b := range [][]byte{data, make([]byte, -len(data)&3)} {
		if a.err == nil {
			_, a.err = a.w.Write(b)
		}
	}
}
