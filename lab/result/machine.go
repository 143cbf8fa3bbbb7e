package result

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Here describes the box that the program runs on, as far as the box tells;
// what it does not tell stays empty. Versions are the caller's to fill.
func Here() Machine {
	m := Machine{Cores: runtime.NumCPU(), Kernel: kernel(), Versions: map[string]string{}}
	m.CPU = processor(read("/proc/cpuinfo"))
	if m.CPU == "" {
		// An arm64 kernel has no name for the processor; its board has one.
		m.CPU = strings.Trim(read("/proc/device-tree/model"), "\x00\n ")
	}
	if m.CPU == "" {
		m.CPU = runtime.GOARCH
	}
	m.Memory = memory(read("/proc/meminfo"))
	m.System = system(read("/etc/os-release"))
	return m
}

// read is a file's text; "" if it cannot be read.
func read(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(text)
}

// kernel is the running kernel's name, release and architecture, as `uname
// -srm` prints them.
func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]) + " " +
		unix.ByteSliceToString(u.Machine[:])
}

// processor is the first processor's name in /proc/cpuinfo.
func processor(cpuinfo string) string { return value(cpuinfo, "model name", ":") }

// memory is the whole memory in bytes from /proc/meminfo, which counts in KiB.
func memory(meminfo string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(value(meminfo, "MemTotal", ":"), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// system is the name of the distribution from os-release(5), whose values may
// stand in quotes.
func system(release string) string { return strings.Trim(value(release, "PRETTY_NAME", "="), `"'`) }

// value is the value of the first line with that key.
func value(text, key, sep string) string {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		k, v, ok := strings.Cut(lines.Text(), sep)
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
