package load

import (
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errOwn marks what is the generator's own failure and not the network's: no
// socket, no port, no memory.
var errOwn = errors.New("the generator could not send")

// sockets is the wire that runs on real ones. UDP is done here, on the loop's
// own goroutine: raw non-blocking sockets and one epoll. Streams have goroutines
// of their own (stream.go), which post what they hear and wake the loop.
type sockets struct {
	config  Config
	mix     []template
	start   time.Time
	names   *names
	targets []address // the servers
	epoll   int
	bell    int // eventfd: wake
	sources []*source
	all     []socket
	unused  []int32 // numbers in all that are free
	streams *streams
	buf     []byte
	events  []unix.EpollEvent

	mu     sync.Mutex
	posted []event
	closed bool
}

// socket is one UDP socket. Most carry one question at a time; one that a client
// keeps (UDPOnePort) carries many, by their numbers.
type socket struct {
	fd     int
	client int32
	family uint8 // index into source.free
	talk   asking
	kept   map[uint16]asking // nil: not kept
	port   uint16
	drops  uint32 // answers that found no room, when last looked
}

// asking is a question that a socket or connection has sent.
type asking struct {
	place
	id     uint16
	entry  int32
	random uint64
	drops  uint32 // of the socket, as far as was known
}

// bellToken is the bell's token in the epoll.
const bellToken = -1

// newSockets opens the epoll.
func newSockets(c Config, mix []template, start time.Time, n *names) (*sockets, error) {
	s := &sockets{config: c, mix: mix, start: start, names: n, epoll: -1, bell: -1,
		buf: make([]byte, 1<<16), events: make([]unix.EpollEvent, 256)}
	for _, server := range c.Servers {
		s.targets = append(s.targets, newAddress(server))
	}
	for i := range c.Clients {
		s.sources = append(s.sources, &source{network: c.Clients[i], client: int32(i)})
	}
	var err error
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("failed to make epoll: %w", err)
	}
	if s.bell, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		s.close()
		return nil, fmt.Errorf("failed to make eventfd: %w", err)
	}
	if err := errors.Join(s.watch(s.bell, bellToken), s.canWait()); err != nil {
		s.close()
		return nil, err
	}
	s.streams = newStreams(c, mix, n, start, s.post)
	return s, nil
}

// watch has the epoll tell of what can be read.
func (s *sockets) watch(fd int, token int32) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: token}
	if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		return fmt.Errorf("failed to watch socket: %w", err)
	}
	return nil
}

// send implements wire.
func (s *sockets) send(t *talk, r request) error {
	if r.stream || s.config.Transport == TCP || s.config.Transport == TCPKept || s.config.Transport == DoT {
		return s.streams.send(t, r)
	}
	t.via = byUDP
	if s.config.Transport == UDPOnePort {
		return s.sendKept(t, r)
	}
	if t.channel == 0 {
		i, err := s.connect(r)
		if err != nil {
			return err
		}
		t.channel, t.port, t.id = i+1, s.all[i].port, randomID()
		s.all[i].talk = asking{place: r.place, id: t.id, entry: r.entry, random: r.random}
	}
	return s.write(s.all[t.channel-1].fd, t.id, r)
}

// connect takes a socket of the client and gives it a new port, of the kernel's
// choice, towards a server.
func (s *sockets) connect(r request) (int32, error) {
	target := &s.targets[r.server]
	i, err := s.take(s.sources[r.client], target.family())
	if err != nil {
		return 0, err
	}
	k := &s.all[i]
	if errno := connect(k.fd, target); errno != 0 {
		s.discard(i)
		return 0, failure("connect", errno)
	}
	k.port = port(k.fd)
	return i, nil
}

// sendKept asks from the client's one port to that server.
func (s *sockets) sendKept(t *talk, r request) error {
	src := s.sources[r.client]
	if src.kept == nil {
		src.kept = make([]int32, len(s.targets))
	}
	if src.kept[r.server] == 0 {
		i, err := s.connect(r)
		if err != nil {
			return err
		}
		s.all[i].kept = map[uint16]asking{}
		enlarge(s.all[i].fd)
		src.kept[r.server] = i + 1
	}
	i := src.kept[r.server] - 1
	k := &s.all[i]
	if t.channel == 0 {
		t.channel, t.port = i+1, k.port
		t.id = randomID()
		for _, taken := k.kept[t.id]; taken; _, taken = k.kept[t.id] {
			t.id++
		}
		k.kept[t.id] = asking{r.place, t.id, r.entry, r.random, k.drops}
	}
	return s.write(k.fd, t.id, r)
}

// write sends the message.
func (s *sockets) write(fd int, id uint16, r request) error {
	m := s.mix[r.entry].put(s.buf[:0], id, r.random)
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)), 0, 0, 0)
	if errno == unix.ECONNREFUSED {
		// The kernel tells now of what was sent before; this one it did not send.
		_, _, errno = unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)), 0, 0, 0)
	}
	if errno != 0 {
		return failure("send", errno)
	}
	return nil
}

// silence implements wire: a UDP port that is silent is only that, unless the
// kernel had no room for what came.
func (s *sockets) silence(t *talk, p place) {
	switch {
	case t.channel == 0:
	case t.via != byUDP:
		s.streams.silence(t, p)
	default:
		k := &s.all[t.channel-1]
		if k.kept == nil {
			return
		}
		k.drops = drops(k.fd)
		if k.drops != k.kept[t.id].drops {
			t.state = spilled
		}
	}
}

// drop implements wire.
func (s *sockets) drop(t *talk, p place) {
	if t.channel == 0 {
		return
	}
	channel := t.channel
	t.channel = 0
	if t.via != byUDP {
		s.streams.drop(channel, t.id, p)
		return
	}
	i := channel - 1
	if k := &s.all[i]; k.kept != nil {
		delete(k.kept, t.id)
		return
	}
	s.give(i, t.state == answered)
}

// wait implements wire.
func (s *sockets) wait(until time.Duration, into []event) []event {
	n := s.poll(until - time.Since(s.start))
	for _, e := range s.events[:n] {
		if e.Fd == bellToken {
			into = s.collect(into)
			continue
		}
		into = s.receive(e.Fd, into)
	}
	return into
}

// wake implements wire.
func (s *sockets) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring()
}

// ring rings the bell; s.mu is held.
func (s *sockets) ring() {
	if one := [8]byte{1}; !s.closed {
		_, _ = unix.Write(s.bell, one[:]) // it fails only if the bell rings already
	}
}

// post takes an event from another goroutine.
func (s *sockets) post(e event) {
	s.mu.Lock()
	s.posted = append(s.posted, e)
	if len(s.posted) == 1 {
		s.ring()
	}
	s.mu.Unlock()
}

// collect takes what was posted.
func (s *sockets) collect(into []event) []event {
	var count [8]byte
	_, _ = unix.Read(s.bell, count[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	into = append(into, s.posted...)
	s.posted = s.posted[:0]
	return into
}

// close implements wire.
func (s *sockets) close() {
	if s.streams != nil {
		s.streams.close()
	}
	for i := range s.all {
		if s.all[i].fd >= 0 {
			_ = unix.Close(s.all[i].fd)
		}
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, fd := range []int{s.epoll, s.bell} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
