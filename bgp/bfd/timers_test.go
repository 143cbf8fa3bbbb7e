package bfd

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

func TestNegotiation(t *testing.T) {
	tests := []struct {
		name                         string
		activeTx, activeRx           time.Duration
		remoteMinTx, remoteMinRx     time.Duration
		mult, remoteMult             uint8
		tx, rx, detection, remoteDet time.Duration
	}{
		{"equal", 300 * ms, 300 * ms, 300 * ms, 300 * ms, 3, 3, 300 * ms, 300 * ms, 900 * ms, 900 * ms},
		{"the peer receives slowly", 50 * ms, 50 * ms, 50 * ms, 400 * ms, 3, 3, 400 * ms, 50 * ms, 150 * ms, 1200 * ms},
		{"the peer sends slowly", 50 * ms, 50 * ms, 400 * ms, 50 * ms, 3, 3, 50 * ms, 400 * ms, 1200 * ms, 150 * ms},
		{"we receive slowly", 50 * ms, 400 * ms, 50 * ms, 50 * ms, 3, 3, 50 * ms, 400 * ms, 1200 * ms, 150 * ms},
		{"multipliers differ", 100 * ms, 100 * ms, 100 * ms, 100 * ms, 2, 5, 100 * ms, 100 * ms, 500 * ms, 200 * ms},
		{"nothing heard", time.Second, 300 * ms, 0, 1, 3, 0, time.Second, 300 * ms, 0, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := machine{
				config:   config{detectMult: tt.mult},
				activeTx: tt.activeTx, activeRx: tt.activeRx,
				remoteMinTx: tt.remoteMinTx, remoteMinRx: tt.remoteMinRx, remoteMult: tt.remoteMult,
			}
			got := [...]time.Duration{m.txInterval(), m.rxInterval(), m.detection(), m.remoteDetection()}
			want := [...]time.Duration{tt.tx, tt.rx, tt.detection, tt.remoteDet}
			if got != want {
				t.Errorf("tx, rx, detection, remote detection: got %v, want %v", got, want)
			}
		})
	}
}

func TestDetectionCannotOverflow(t *testing.T) {
	m := machine{activeRx: maxInterval, remoteMult: math.MaxUint8}
	if got := m.detection(); got != 255*maxInterval {
		t.Errorf("got %v", got)
	}
}

func TestDesiredTx(t *testing.T) {
	tests := []struct {
		state State
		d     time.Duration
		want  time.Duration
	}{
		{AdminDown, 50 * ms, time.Second},
		{Down, 50 * ms, time.Second},
		{Init, 50 * ms, time.Second},
		{Up, 50 * ms, 50 * ms},
		{Down, 2 * time.Second, 2 * time.Second},
		{Up, 2 * time.Second, 2 * time.Second},
	}
	for _, tt := range tests {
		if got := desiredTx(tt.state, tt.d); got != tt.want {
			t.Errorf("%v, %v: got %v, want %v", tt.state, tt.d, got, tt.want)
		}
	}
}

func TestPeriodic(t *testing.T) {
	demand := machine{state: Up, remoteState: Up, remoteDemand: true, remoteMinRx: ms}
	with := func(f func(*machine)) machine { m := demand; f(&m); return m }
	tests := []struct {
		name string
		m    machine
		want bool
	}{
		{"as usual", with(func(m *machine) { m.remoteDemand = false }), true},
		{"the peer wants none", with(func(m *machine) { m.remoteDemand, m.remoteMinRx = false, 0 }), false},
		{"the peer wants none, even polled", with(func(m *machine) { m.remoteMinRx, m.poll = 0, pollNew }), false},
		{"demand", demand, false},
		{"demand, but polling", with(func(m *machine) { m.poll = pollSent }), true},
		{"demand, poll due later", with(func(m *machine) { m.poll = pollDue }), false},
		{"demand, but we are not up", with(func(m *machine) { m.state = Init }), true},
		{"demand, but the peer is not up", with(func(m *machine) { m.remoteState = Init }), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.m.periodic(); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func TestJitterEnds(t *testing.T) {
	almost := math.Nextafter(1, 0)
	tests := []struct {
		mult uint8
		r    float64
		want time.Duration
	}{
		{3, 0, 100 * ms}, {3, 0.5, 87500 * time.Microsecond}, {3, almost, 75 * ms},
		{1, 0, 90 * ms}, {1, almost, 75 * ms},
	}
	for _, tt := range tests {
		if got := jitter(100*ms, tt.mult, tt.r).Round(time.Microsecond); got != tt.want {
			t.Errorf("multiplier %d, r %v: got %v, want %v", tt.mult, tt.r, got, tt.want)
		}
	}
}

func TestJitterBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(int64(minInterval), int64(maxInterval)).Draw(t, "interval"))
		mult := rapid.Uint8Range(1, 255).Draw(t, "multiplier")
		r := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "r")
		got := jitter(d, mult, r)
		most := d
		if mult == 1 {
			most = d * 9 / 10
		}
		if got < d*3/4-1 || got > most+1 {
			t.Fatalf("%v of %v", got, d)
		}
	})
}
