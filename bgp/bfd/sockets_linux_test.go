package bfd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestPortTaken: the error names who has the port, and the way out; when the
// port is free again the session can be added.
func TestPortTaken(t *testing.T) {
	needRoot(t) // for a network namespace in which the port is free
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{Port: portSingleHop})
	if err != nil {
		t.Fatal(err)
	}
	e := New(Options{})
	defer e.Close()
	_, err = e.Add(Config{Peer: netip.MustParseAddr("127.0.0.2")}, nil)
	var taken *PortError
	if !errors.As(err, &taken) || !errors.Is(err, unix.EADDRINUSE) {
		t.Fatalf("got %v", err)
	}
	want := fmt.Sprintf("%s (pid %d)", filepath.Base(os.Args[0]), os.Getpid())
	if taken.Port != portSingleHop || taken.Holder != want {
		t.Errorf("port %d, holder %q, want %q", taken.Port, taken.Holder, want)
	}
	if text := err.Error(); !strings.Contains(text, "UDP port 3784: "+want+" has it") {
		t.Errorf("error %q", text)
	}
	conn.Close()
	if _, err := e.Add(Config{Peer: netip.MustParseAddr("127.0.0.2")}, nil); err != nil {
		t.Error(err)
	}
}

func TestSocketInodes(t *testing.T) {
	const table = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  521: 00000000:0EC8 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4711 2 0000000000000000 0
  522: 00000000:12B0 00000000:0EC8 07 00000000:00000000 00:00000000 00000000     0        0 4712 2 0000000000000000 0
`
	got := make(map[string]bool)
	socketInodes(got, table, portSingleHop)
	if len(got) != 1 || !got["socket:[4711]"] {
		t.Errorf("got %v", got)
	}
}

// TestSourcePorts: each session has a port of its own in the range, also with
// local addresses that would allow to share one, and gives it back.
func TestSourcePorts(t *testing.T) {
	needRoot(t, "ip")
	loopbackUp(t)
	e := New(Options{})
	defer e.Close()
	seen := make(map[int]bool)
	for i := range 100 {
		local := netip.AddrFrom4([4]byte{127, 0, 1, byte(i + 1)})
		s, err := e.Add(Config{Peer: netip.MustParseAddr("127.0.0.2"), Local: local}, nil)
		if err != nil {
			t.Fatal(err)
		}
		awaitSent(t, s)
		port := s.link.(*sender).port
		if port < firstSourcePort || port > lastSourcePort || seen[port] {
			t.Errorf("port %d", port)
		}
		seen[port] = true
		if got := s.Status().Local; got != local {
			t.Errorf("sends from %v, want %v", got, local)
		}
	}
	e.Close()
	if n := len(e.transport.(*sockets).ports); n != 0 {
		t.Errorf("%d ports not given back", n)
	}
}

// loopbackUp makes the loopback of the tests' namespace work.
func loopbackUp(t *testing.T) {
	t.Helper()
	l := &lab{t: t}
	l.run("ip link set lo up")
}

// awaitSent waits until a session has sent a packet.
func awaitSent(t *testing.T, s *Session) {
	t.Helper()
	l := &lab{t: t}
	l.eventually("a packet is sent", 5*time.Second,
		func() bool { return s.Status().Sent > 0 },
		func() string { return s.Status().LastSendError })
}

// TestKernelStamps: a packet that waited in the socket is as old as the kernel
// says, not as new as its reading.
func TestKernelStamps(t *testing.T) {
	needRoot(t, "ip")
	loopbackUp(t)
	(&lab{t: t}).run("ip address replace 2001:db8::2/128 dev lo nodad")
	for peer, local := range map[string]string{"127.0.0.2": "127.0.0.1", "2001:db8::2": "::1"} {
		t.Run(peer, func(t *testing.T) {
			e := New(Options{})
			defer e.Close()
			s, err := e.Add(Config{Peer: addr(peer), Local: addr(local)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			l := s.link.(*sender).listener
			l.mu.Lock() // so that nobody reads
			sent := time.Now()
			sendFrom(t, s, addr(peer), Packet{State: Down, Multiplier: 3, MyDiscriminator: 5})
			<-time.After(500 * ms)
			l.mu.Unlock()
			s.link.drain()
			heard := s.Status().LastHeard
			if heard.IsZero() {
				t.Fatal("drain returned before the packet was handled")
			}
			if late := heard.Sub(sent); late < -50*ms || late > 250*ms {
				t.Errorf("heard %v after it was sent", late)
			}
		})
	}
}

// sendFrom sends a packet to a session as its peer, with TTL 255.
func sendFrom(t *testing.T, s *Session, from netip.Addr, p Packet) {
	t.Helper()
	fd, err := newSocket(from.Is6(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	level, name := unix.IPPROTO_IP, unix.IP_TTL
	to := addr("127.0.0.1")
	if from.Is6() {
		level, name, to = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, addr("::1")
	}
	if err := unix.SetsockoptInt(fd, level, name, 255); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, sockaddr(from, 0)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Sendto(fd, p.AppendTo(nil), 0, sockaddr(to, portSingleHop)); err != nil {
		t.Fatal(err)
	}
}

// TestArrived is the arithmetic of two clocks: the age comes from the wall
// clock, the moment from the monotonic one.
func TestArrived(t *testing.T) {
	now := time.Now()
	wall := now.Round(0)
	tests := []struct {
		name  string
		stamp time.Time
		want  time.Duration // age
	}{
		{"just now", wall, 0},
		{"some time ago", wall.Add(-30 * ms), 30 * ms},
		{"clock set back by an hour", wall.Add(time.Hour), 0},
		{"clock set forward by an hour", wall.Add(-time.Hour), time.Hour},
		{"no stamp", time.Time{}, 0},
	}
	for _, tt := range tests {
		if got := now.Sub(arrived(now, tt.stamp)); got != tt.want {
			t.Errorf("%s: age %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTimespec(t *testing.T) {
	want := time.Unix(1_700_000_000, 123_456_789)
	wide := binary.NativeEndian.AppendUint64(nil, uint64(want.Unix()))
	wide = binary.NativeEndian.AppendUint64(wide, uint64(want.Nanosecond()))
	narrow := binary.NativeEndian.AppendUint32(nil, uint32(want.Unix()))
	narrow = binary.NativeEndian.AppendUint32(narrow, uint32(want.Nanosecond()))
	for _, b := range [][]byte{wide, narrow} {
		if got := timespec(b); !got.Equal(want) {
			t.Errorf("%d bytes: got %v, want %v", len(b), got, want)
		}
	}
	if got := timespec(wide[:9]); !got.IsZero() {
		t.Errorf("9 bytes: got %v", got)
	}
}

// TestControlGarbage: whatever the control messages are, nothing panics, and
// what is not there is not made up.
func TestControlGarbage(t *testing.T) {
	for n := range 64 {
		d := datagram{ttl: -1}
		d.readControl(make([]byte, n))
		if d.ttl != -1 || d.ifindex != 0 || d.to.IsValid() {
			t.Errorf("%d zeros: %+v", n, d)
		}
	}
}

// TestRefusal: a peer without BFD is found out, on both families.
func TestRefusal(t *testing.T) {
	needRoot(t, "ip", "nft")
	l := newLab(t)
	for _, w := range ways[:3] {
		s, err := l.engine.Add(Config{Peer: w.his, Interface: w.ours}, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.eventually("the refusal is known", 10*time.Second,
			func() bool { return s.Status().Trouble() == "the peer refuses UDP port 3784: it runs no BFD" },
			func() string { return w.name + ": " + s.Status().Trouble() })
	}
}

// TestInterfaceComesBack: its link is deleted and made anew, with another
// index, and the sessions go on by themselves, that which was bound to it too.
func TestInterfaceComesBack(t *testing.T) {
	eachRouter(t, func(t *testing.T, l *lab, mk func(*lab, []way) router) {
		tr := newTrial(t, l, mk, normal)
		tr.run("ip link delete us0")
		tr.eventually("the single hop sessions are down", 10*time.Second, func() bool {
			for _, s := range tr.sessions[:3] {
				if s.Status().State != Down {
					return false
				}
			}
			return true
		}, tr.describe)
		// The index of the deleted link must not be used again.
		tr.run("ip link add us9 type ifb")
		defer tr.run("ip link delete us9")
		tr.run("ip link add us0 type veth peer name peer0 netns " + tr.peer)
		tr.addresses("", "us0", "192.0.2.1/24 2001:db8:1::1/64 fe80::1/64")
		tr.addresses(tr.peer, "peer0", "192.0.2.2/24 2001:db8:1::2/64 fe80::2/64")
		tr.awaitAll(Up)
	})
}
