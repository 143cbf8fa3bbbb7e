package catchment

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/probe/dnsx"
)

// TestReport counts samples, and writes what programs read.
func TestReport(t *testing.T) {
	nsid := dnsx.Inquiries()[0]
	from := func(node, second string, took time.Duration) sample {
		return sample{answered: true, node: node, second: second, by: nsid, took: took * time.Microsecond}
	}
	r := newReport(config(8), []sample{
		from("n2", "n2", 400), from("n1", "", 900), from("n2", "n1", 300), from("n2", "", 2000),
		{answered: true, why: "NSID: REFUSED"}, {why: "timeout", silent: true}, {why: "timeout", silent: true},
	}, Interrupted)
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"server":"udp://192.0.2.53:53","asked":7,"nodes":[` +
		`{"node":"n1","by":"NSID","answers":1,"share":0.2,"median_ms":0.9},` +
		`{"node":"n2","by":"NSID","answers":3,"share":0.6,"median_ms":0.4}],` +
		`"unidentified":{"count":1,"reasons":{"NSID: REFUSED":1}},` +
		`"unanswered":{"count":2,"reasons":{"timeout":2}},"repeated":2,"moved":1,"ended":"interrupted"}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("unexpected report (-want +got):\n%s", d)
	}
	if whole := newReport(config(1), []sample{from("n1", "", 1)}, Interrupted); whole.Ended != "" {
		t.Errorf("a whole survey ended by %q", whole.Ended)
	}
}

// TestEven tells how far from even shares chance goes.
func TestEven(t *testing.T) {
	for nodes, want := range map[int][2]float64{2: {0.5, 0.0707}, 3: {0.3333, 0.0667}, 4: {0.25, 0.0612}} {
		share, swing := Report{Asked: 200, Nodes: make([]Node, nodes)}.Even()
		if math.Abs(share-want[0]) > 1e-4 || math.Abs(swing-want[1]) > 1e-4 {
			t.Errorf("%d nodes: %.4f and %.4f, want %v", nodes, share, swing, want)
		}
	}
}

// TestFutile goes on as long as there is hope.
func TestFutile(t *testing.T) {
	known, mute := sample{answered: true, node: "n1"}, sample{answered: true}
	silent, refused := sample{silent: true}, sample{}
	for _, tt := range []struct {
		name    string
		samples []sample
		want    string
	}{
		{"one is known", []sample{mute, refused, known}, ""},
		{"one is silent", []sample{mute, refused, silent}, ""},
		{"answers, and no more", []sample{refused, mute}, NoIdentity},
		{"refused", []sample{refused, refused}, Unreachable},
	} {
		if got := futile(tt.samples); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
