package load

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// anyTime draws a time that a record can have; the zero time is none.
func anyTime(t *rapid.T, label string) time.Time {
	if rapid.Bool().Draw(t, label+" is none") {
		return time.Time{}
	}
	return time.Unix(0, rapid.Int64Range(1, 1<<61).Draw(t, label)).UTC()
}

// anyRecord draws a record with the number seq.
func anyRecord(t *rapid.T, seq int) Record {
	text := rapid.StringMatching(`[ -~äß"',;]{0,12}`)
	return Record{
		Seq: seq, Client: rapid.IntRange(0, 1000).Draw(t, "client"), Intended: anyTime(t, "intended"),
		Question: Question{Name: text.Draw(t, "name"), Type: rapid.Uint16().Draw(t, "type")},
		Answer: Answer{
			Sent: anyTime(t, "sent"), Ended: anyTime(t, "ended"),
			Outcome:  rapid.SampledFrom([]Outcome{Answered, Timeout, Refused, Reset, Unsent, Spilled}).Draw(t, "outcome"),
			Rcode:    rapid.IntRange(0, 4095).Draw(t, "rcode"),
			Node:     text.Draw(t, "node"),
			Server:   rapid.SampledFrom([]string{"", "192.0.2.1", "2001:db8::1"}).Draw(t, "server"),
			Port:     rapid.IntRange(0, 65535).Draw(t, "port"),
			Via:      rapid.SampledFrom([]Via{"", ViaUDP, ViaTCP, ViaTLS}).Draw(t, "via"),
			Attempts: rapid.IntRange(0, 24).Draw(t, "attempts"),
			Resets:   rapid.IntRange(0, 3).Draw(t, "resets"),
			Error:    text.Draw(t, "error"),
		},
	}
}

// TestCSVRoundTrip shows that whatever a run records is read back exactly, in
// the order of its numbers, whatever the order in which it was written.
func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Record
		for i := range rapid.IntRange(0, 20).Draw(t, "records") {
			want = append(want, anyRecord(t, i))
		}
		var file bytes.Buffer
		w := NewWriter(&file)
		for _, r := range rapid.Permutation(want).Draw(t, "order of ending") {
			w.Write(r)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCSV(&file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("unexpected records (-want +got):\n%s", d)
		}
	})
}

// TestCSVText shows what a line looks like: this is an interface to others.
func TestCSVText(t *testing.T) {
	at := time.Date(2024, 1, 1, 0, 0, 0, 123456789, time.FixedZone("", 3600))
	var file bytes.Buffer
	w := NewWriter(&file)
	w.Write(Record{
		Seq: 7, Client: 3, Intended: at, Question: Question{Name: "nas.lan.", Type: 28},
		Answer: Answer{Sent: at, Ended: at.Add(time.Second), Outcome: Answered, Rcode: 3, Node: "n1",
			Server: "192.0.2.1", Port: 40000, Via: ViaUDP, Attempts: 2},
	})
	w.Write(Record{
		Seq: 8, Intended: at, Question: Question{Name: "a.", Type: 65280},
		Answer: Answer{Ended: at, Outcome: Unsent, Error: "no socket, no luck"},
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := `seq,client,intended,sent,ended,outcome,rcode,server,node,attempts,resets,via,port,name,type,error
7,3,2023-12-31T23:00:00.123456789Z,2023-12-31T23:00:00.123456789Z,2023-12-31T23:00:01.123456789Z,answered,3,192.0.2.1,n1,2,0,udp,40000,nas.lan.,AAAA,
8,0,2023-12-31T23:00:00.123456789Z,,2023-12-31T23:00:00.123456789Z,unsent,0,,,0,0,,0,a.,TYPE65280,"no socket, no luck"
`
	if d := cmp.Diff(want, file.String()); d != "" {
		t.Errorf("unexpected file (-want +got):\n%s", d)
	}
}

// full is a writer to a disk that is full.
type full struct{}

// Write fails.
func (full) Write([]byte) (int, error) { return 0, errFull }

// errFull is why it fails.
var errFull = errorString("disk is full")

// errorString is an error that is its text.
type errorString string

// Error is the text.
func (e errorString) Error() string { return string(e) }

// TestCSVWriteFails shows that a full disk is told at the end, and only once.
func TestCSVWriteFails(t *testing.T) {
	w := NewWriter(full{})
	for range 1000 {
		w.Write(Record{})
	}
	if err := w.Close(); err == nil || strings.Count(err.Error(), "disk is full") != 1 {
		t.Errorf("error %v, want the disk's, once", err)
	}
}

func TestReadCSVRefuses(t *testing.T) {
	head := strings.Join(columns, ",") + "\n"
	tests := []struct{ name, text, want string }{
		{"empty", "", "EOF"},
		{"other columns", strings.Replace(head, "seq", "id", 1), "line 1: columns"},
		{"a field too few", head + "1,2,3\n", "wrong number of fields"},
		{"no number", head + "x,0,,,,answered,0,,,0,0,,0,a.,A,\n", `line 2: seq: "x": must be a number`},
		{"no time", head + "\n0,0,now,,,answered,0,,,0,0,,0,a.,A,\n", `line 3: intended: "now": must be a time`},
		{"no type", head + "0,0,,,,answered,0,,,0,0,,0,a.,TYPE65536,\n", `type: "TYPE65536": must be a record type`},
		{"no type by number alone", head + "0,0,,,,answered,0,,,0,0,,0,a.,1,\n", `type: "1": must be a record type`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadCSV(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// FuzzReadCSV shows that any file is refused or read, and what was read is
// written and read the same again.
func FuzzReadCSV(f *testing.F) {
	head := strings.Join(columns, ",") + "\n"
	f.Add(head + "0,0,2024-01-01T00:00:00Z,,2024-01-01T00:00:00.5Z,answered,0,192.0.2.1,n1,1,0,udp,4,a.,A,\n")
	f.Add(head + "0,0,,,,unsent,0,,,0,0,,0,\"a,b\",TYPE4000,\"x\"\"y\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		first, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		var file bytes.Buffer
		w := NewWriter(&file)
		for _, r := range first {
			w.Write(r)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		second, err := ReadCSV(&file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(first, second); d != "" {
			t.Errorf("unexpected records (-first +second):\n%s", d)
		}
	})
}
