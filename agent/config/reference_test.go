package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recuse/probe/probetest"
)

// The files that users start from.
const (
	example   = "../../deploy/example.yaml"
	reference = "../../deploy/reference.yaml"
)

// TestExample checks the file for a real node: right, short, no warning.
func TestExample(t *testing.T) {
	c, err := Load(example)
	if err != nil {
		t.Fatalf("unexpected errors:\n%v", err)
	}
	if len(c.Warnings) > 0 || len(lines(t, example)) > 20 {
		t.Errorf("%d lines, warnings %v", len(lines(t, example)), c.Warnings)
	}
}

// TestReferenceDefaults checks that what the reference states as defaults are
// the defaults: they may be left out.
func TestReferenceDefaults(t *testing.T) {
	got, err := Load(reference)
	if err != nil {
		t.Fatalf("unexpected errors:\n%v", err)
	}
	want := mustParse(t, `
bgp:
  asn: 65011
  peers: [{address: 10.1.1.1, asn: 65000}]
services:
  - name: dns
    addresses: [10.1.9.53/32, 2001:db8:9::53/128]
    checks:
      - name: local-name
        dns: {}
`)
	want.Path = got.Path
	if diff := cmp.Diff(want, got, equal()); diff != "" {
		t.Errorf("unexpected configuration (-want +got):\n%s", diff)
	}
}

// TestReferenceComplete checks that the reference has every key that a file
// may have, below the keys that it stands below.
func TestReferenceComplete(t *testing.T) {
	text := strings.Join(lines(t, reference), "\n")
	for _, key := range keysOf(reflect.TypeFor[rawConfig]()) {
		if key != loneKey && !regexp.MustCompile(`(?m)(^|[ {])`+key+`:( |$)`).MatchString(text) {
			t.Errorf("the reference does not name the key %s", key)
		}
	}
}

// keysOf returns the keys of a raw struct and of all below it.
func keysOf(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t == reflect.TypeFor[scalar]() {
		return nil
	}
	var keys []string
	for f := range t.Fields() {
		keys = append(keys, f.Tag.Get("yaml"))
		keys = append(keys, keysOf(f.Type)...)
	}
	return keys
}

// TestReferenceComments checks that every setting that is commented out in the
// reference is right once it is not.
func TestReferenceComments(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	writeKey(t, key, "secret\n", 0o600)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	writeKey(t, ca, probetest.NewAuthority(t).PEM(), 0o644)
	files := strings.NewReplacer("/etc/recuse/router1.key", key, "/etc/recuse/ca.pem", ca)
	all := lines(t, reference)
	blocks := commented(all)
	if len(blocks) < 15 {
		t.Fatalf("found only %d settings that are commented out", len(blocks))
	}
	before := mustParse(t, strings.Join(all, "\n"))
	for _, b := range blocks {
		text := append([]string(nil), all...)
		for i := b.from; i < b.to; i++ {
			text[i] = strings.Replace(text[i], "# ", "", 1)
		}
		c, err := parse("test.yaml", []byte(files.Replace(strings.Join(text, "\n"))), nil)
		if err != nil {
			t.Errorf("lines %d to %d: %v", b.from+1, b.to, err)
			continue
		}
		if len(c.Warnings) > 0 || cmp.Equal(before, c, equal()) {
			t.Errorf("lines %d to %d change nothing, or warn: %v", b.from+1, b.to, c.Warnings)
		}
	}
}

// block is a run of lines, the last one not included.
type block struct{ from, to int }

// commented returns the runs of lines that are settings commented out.
func commented(all []string) []block {
	setting := regexp.MustCompile(`^ *# +(- )?[a-z_0-9]+:( |$)`)
	var blocks []block
	for i := 0; i < len(all); i++ {
		from := i
		for i < len(all) && setting.MatchString(all[i]) {
			i++
		}
		if i > from {
			blocks = append(blocks, block{from, i})
		}
	}
	return blocks
}

// TestReferenceUnknown makes sure that the tests above would see a key that is
// no setting.
func TestReferenceUnknown(t *testing.T) {
	text := strings.Replace(strings.Join(lines(t, reference), "\n"), "# soa:", "zone:", 1)
	_, err := parse("test.yaml", []byte(text), nil)
	if !errors.As(err, new(Errors)) || !strings.Contains(err.Error(), "services[0].checks[0].dns.zone: unknown key") {
		t.Errorf("unexpected error: %v", err)
	}
}

// FuzzParse checks that no bytes make the parser panic, that its errors have
// a path and a rule, and that what it takes has what the agent relies on.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, example, reference) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "")
	}
	f.Add([]byte(minimal), "RECUSE_BGP_ASN=65012")
	f.Fuzz(func(t *testing.T, b []byte, variable string) {
		c, err := parse("fuzz.yaml", b, []string{variable})
		var problems Errors
		switch {
		case err == nil:
			checkSound(t, c)
		case !errors.As(err, &problems) || len(problems) == 0:
			t.Fatalf("the error is no Errors but %v", err)
		}
		for _, p := range problems {
			if p.Path == "" || p.Rule == "" {
				t.Errorf("a problem without path or rule: %+v", p)
			}
		}
	})
}

// checkSound checks what holds for every configuration.
func checkSound(t *testing.T, c *Config) {
	t.Helper()
	if c.BGP.ASN == 0 || len(c.BGP.Peers) == 0 || len(c.Services) == 0 {
		t.Fatalf("required settings are missing: %+v", c)
	}
	for _, s := range c.Services {
		if s.Name == "" || len(s.Addresses) == 0 || len(s.Checks) == 0 || !isWhole(s.Addresses) || !isWhole(s.Announce) {
			t.Fatalf("an incomplete service: %+v", s)
		}
		for _, check := range s.Checks {
			if check.Kind == "" || check.Interval <= 0 || check.Timeout <= 0 || check.FastInterval > check.Interval {
				t.Fatalf("an incomplete check: %+v", check)
			}
		}
	}
}
