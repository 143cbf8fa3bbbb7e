package main

import (
	"bytes"
	"testing"

	"recuse/agent/doctor"
)

// TestDoctorText reads what people read.
func TestDoctorText(t *testing.T) {
	var out bytes.Buffer
	r := doctor.Report{Examinations: []string{"subnet", "link"}, Findings: []doctor.Finding{
		{Examination: "link", Severity: doctor.Error, Seen: "kind: dummy", Why: "no such link", WayOut: "kind: ifb"},
		{Examination: "subnet", Severity: doctor.Unknown, Seen: "denied", Why: "not known", WayOut: "be root"},
	}}
	if err := printReport(&out, r); err != nil {
		t.Fatal(err)
	}
	want := "ERROR    link: kind: dummy\n         why: no such link\n         way out: kind: ifb\n\n" +
		"UNKNOWN  subnet: denied\n         why: not known\n         way out: be root\n\n" +
		"2 examinations; errors: 1, warnings: 0, unknown: 1, notes: 0\n"
	if got := out.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// TestDoctorCodes examines this box, on which the peer is its own address: that
// is an error on any.
func TestDoctorCodes(t *testing.T) {
	file := fileWith(t, "  router_id: 198.51.100.11\n  peers: [{address: 127.0.0.1, asn: 65000}]\n")
	for name, tt := range map[string]struct {
		args []string
		want int
	}{
		"something found":  {[]string{"-c", file}, exitUnwell},
		"as JSON":          {[]string{"-c", file, "--json"}, exitUnwell},
		"no such file":     {[]string{"-c", "/nowhere/x.yaml"}, exitConfig},
		"a wrong file":     {[]string{"-c", fileWith(t, "  peers: []\n")}, exitConfig},
		"an argument more": {[]string{"-c", file, "eth0"}, exitConfig},
	} {
		if got := run(append([]string{"doctor"}, tt.args...)); got != tt.want {
			t.Errorf("%s: got exit code %d, want %d", name, got, tt.want)
		}
	}
}
