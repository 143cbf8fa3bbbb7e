package bfd

import (
	"testing"
	"testing/synctest"
	"time"
)

// FuzzReceive drives the whole receive path, from the bytes of datagrams to
// the sessions' timers, with packets from anybody. Each input is a series of
// datagrams, each with a byte before it that tells its length and how it came.
// Whatever comes: nothing panics, what is sent is well-formed (the fake checks
// that), and after the storm the real peer brings each session up.
func FuzzReceive(f *testing.F) {
	for _, p := range fuzzSeeds() {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		synctest.Test(t, func(t *testing.T) {
			plain := newEnd(t, addrA, addrB, fast, Options{})
			defer plain.stop()
			signed := newEnd(t, addrA, addrB, Config{Auth: testAuth(KeyedSHA1)}, Options{})
			defer signed.stop()
			for len(b) > 0 && len(b) < 4096 {
				n := min(int(b[0]&0x3f), len(b)-1)
				storm(plain, b[0], b[1:1+n])
				storm(signed, b[0], b[1:1+n])
				b = b[1+n:]
			}
			if signed.Status().State != Down {
				t.Error("a session with authentication was moved by strangers")
			}
			// The worst that anybody can say is an hour's detection time, and
			// that it wants no packets; whoever has the discriminator may.
			plain.inject(Packet{State: AdminDown, Multiplier: 1, MyDiscriminator: 1, DesiredMinTx: ms, RequiredMinRx: ms})
			plain.want(Down)
			plain.inject(plain.peerPacket(Down))
			plain.inject(plain.peerPacket(Up))
			plain.want(Up)
			time.Sleep(300 * ms)
			plain.want(Down)
		})
	})
}

// storm delivers one datagram of a fuzzed series. A bit of how has the
// session's own discriminator put into it, which no fuzzer would guess.
func storm(e *end, how byte, b []byte) {
	b = append([]byte(nil), b...)
	if how&0x40 != 0 && len(b) >= packetLen {
		d := e.Status().LocalDiscriminator
		b[8], b[9], b[10], b[11] = byte(d>>24), byte(d>>16), byte(d>>8), byte(d)
	}
	if how&0x80 != 0 {
		time.Sleep(200 * ms)
	}
	e.arrive(&datagram{payload: b, from: addrB, to: addrA, ttl: 255})
	synctest.Wait()
}

// fuzzSeeds returns series of datagrams that reach most of the code.
func fuzzSeeds() [][]byte {
	series := func(ps ...Packet) []byte {
		var all []byte
		for _, p := range ps {
			b := p.AppendTo(nil)
			all = append(append(all, 0x40|byte(len(b))), b...)
		}
		return all
	}
	base := Packet{State: Down, Multiplier: 3, MyDiscriminator: 7, DesiredMinTx: 100 * ms, RequiredMinRx: 100 * ms}
	with := func(f func(*Packet)) Packet { p := base; f(&p); return p }
	up := with(func(p *Packet) { p.State = Up })
	return [][]byte{
		nil,
		{0x40, 0xc1},
		series(base, up),
		series(with(func(p *Packet) { p.State = Init }), up, with(func(p *Packet) { p.State = AdminDown })),
		series(base, up, with(func(p *Packet) { p.State, p.Poll = Up, true }), up.final(), base),
		series(base, up, with(func(p *Packet) { p.State, p.Demand = Up, true }), with(func(p *Packet) { p.State, p.RequiredMinRx = Up, 0 })),
		series(base, with(func(p *Packet) { p.Auth = []byte{1, 4, 9, 'x'} })),
		testAuthSeries(),
	}
}

// testAuthSeries returns a packet signed with an unknown key.
func testAuthSeries() []byte {
	a := &Auth{Type: KeyedSHA1, Keys: []Key{{7, []byte("not the secret")}}}
	b := a.sign(nil, Packet{State: Down, Multiplier: 3, MyDiscriminator: 7}, 1)
	return append([]byte{byte(len(b))}, b...)
}
