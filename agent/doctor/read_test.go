package doctor

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestParseSocket reads lines of the kernel's tables, as this machine has them.
func TestParseSocket(t *testing.T) {
	word := func(b ...byte) string {
		n := binary.NativeEndian.Uint32(b)
		return strings.ToUpper(hexOf(n))
	}
	v4 := word(192, 0, 2, 53)
	v6 := word(0x20, 1, 0x0d, 0xb8) + "00000000" + "00000000" + word(0, 0, 0, 0x53)
	line := func(local, state string) string {
		return "  7: " + local + " 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000     0        0 4711 2 0 0"
	}
	tests := []struct {
		line string
		tcp  bool
		want string
	}{
		{line(v4+":0035", "07"), false, "192.0.2.53:53"},
		{line(v6+":0EC8", "07"), false, "[2001:db8::53]:3784"},
		{line(v4+":00B3", "0A"), true, "192.0.2.53:179"},
		{line(v4+":0035", "01"), false, ""}, // has a peer
		{line(v4+":0035", "07"), true, ""},
		{line("C0:0035", "07"), false, ""},
		{line(v4+":x", "07"), false, ""},
		{"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", false, ""},
		{"", false, ""},
	}
	for _, tt := range tests {
		s, inode, ok := parseSocket(tt.line, tt.tcp)
		if ok != (tt.want != "") || ok && (s.Local.String() != tt.want || inode != "4711" || s.TCP != tt.tcp) {
			t.Errorf("%q: got %v, %q, %t, want %q", tt.line, s, inode, ok, tt.want)
		}
	}
}

// hexOf writes a word as the kernel does.
func hexOf(n uint32) string {
	const digits = "0123456789abcdef"
	var b []byte
	for i := 28; i >= 0; i -= 4 {
		b = append(b, digits[n>>i&15])
	}
	return string(b)
}

// TestReadSockets finds sockets of this process.
func TestReadSockets(t *testing.T) {
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	tcp, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		tcp, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	all, err := readSockets()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []net.Addr{udp.LocalAddr(), tcp.Addr()} {
		at := netip.MustParseAddrPort(want.String())
		if !slices.ContainsFunc(all, func(s Socket) bool {
			return s.Local == at && s.TCP == (want.Network() == "tcp") && s.PID == os.Getpid()
		}) {
			t.Errorf("no %s %s of this process", want.Network(), at)
		}
	}
}

// TestSocketOwners shows the name of a process, which is its own choice, with
// care.
func TestSocketOwners(t *testing.T) {
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	before, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.WriteFile("/proc/self/comm", before, 0) }() // a name of no account
	if err := os.WriteFile("/proc/self/comm", []byte("\x1b[2Jx"), 0); err != nil {
		t.Fatal(err)
	}
	all, err := readSockets()
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort(udp.LocalAddr().String())
	if i := slices.IndexFunc(all, func(s Socket) bool { return s.Local == at }); i < 0 || all[i].Process != `\x1b[2Jx` {
		t.Errorf("unexpected owner of %s in %v", at, all)
	}
}

func TestReadStateDir(t *testing.T) {
	dir := t.TempDir()
	if d := readStateDir(dir); d.Err != nil {
		t.Errorf("unexpected error: %v", d.Err)
	}
	if d := readStateDir(dir + "/none"); !os.IsNotExist(d.Err) {
		t.Errorf("unexpected error: %v", d.Err)
	}
	if err := os.WriteFile(dir+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if d := readStateDir(dir + "/file"); d.Err == nil {
		t.Error("a file passes for a directory")
	}
}
