package config

import (
	"strings"
	"testing"
)

// TestAccepted checks what is right though it stands close to what is not.
// Each case replaces a part of minimal.
func TestAccepted(t *testing.T) {
	const addresses = "[10.1.9.53/32]"
	second := func(settings string) string {
		return "- addresses: [10.1.9.54/32]\n    checks: [dns: {}]\n    " + settings + "\n  - addresses: [10.1.9.53/32]"
	}
	tests := []struct{ name, old, new string }{
		{"the most probes", "dns: {}", "{dns: {}, interval: 100ms}"},
		{"the most probes of two", "dns: {}", "{dns: {}, interval: 200ms}\n      - {name: b, dns: {}, interval: 200ms}"},
		{"two servers on one address", "dns: {}",
			"{dns: {}, interval: 100ms}\n      - {name: b, dns: {server: '127.0.0.1:54'}, interval: 100ms}"},
		{"service path counts once", "dns: {}",
			"{dns: {}, interval: 100ms}\n      - {name: b, dns: {server: '127.0.0.2:53'}, interval: 100ms}"},
		{"any rate over tcp", "dns: {}", "{dns: {server: 'tcp://127.0.0.1:53'}, interval: 20ms}"},
		{"least times", "dns: {}", "{dns: {server: 'tcp://127.0.0.1'}, interval: 20ms, timeout: 10ms, fast_interval: 5ms, slow: {over: 1ms}}"},
		{"greatest times", "dns: {}", "{dns: {}, interval: 1h, timeout: 10s, fast_interval: 1h, slow: {over: 10s}}"},
		{"timeout above interval", "dns: {}", "{dns: {}, interval: 1s, timeout: 3s}"},
		{"greatest numbers", "asn: 65000", "asn: 4294967294\n      port: 65535\n      multihop: 255\n      hold_time: 1h"},
		{"ttl_security false with multihop", "asn: 65000", "asn: 65000\n      ttl_security: false\n      multihop: 2"},
		{"iBGP", "asn: 65000", "asn: 65011"},
		{"yield_wait that just fits", "checks:", "yield_wait: 4s\n    drain_timeout: 6s\n    checks:"},
		{"hold of nothing", "checks:", "hold: {min: 0s, max: 0s}\n    checks:"},
		{"longest names", "checks:", "name: " + strings.Repeat("n", 63) + "\n    link: {name: " + strings.Repeat("l", 15) + "}\n    checks:"},
		{"longest label", "dns: {}", "dns: {name: '{random}" + strings.Repeat("x", 47) + ".lan'}"},
		{"longest socket", "services:", "control: {socket: /" + strings.Repeat("s", 106) + "}\nservices:"},
		{"control by root alone", "services:", "control: {group: ''}\nservices:"},
		{"zone of the name itself", "dns: {}", "dns: {name: '{random}.LAN.', soa: lan}"},
		{"root zone", "dns: {}", "dns: {soa: .}"},
		{"lower case", "dns: {}", "dns: {type: aaaa, rcode: [noerror]}"},
		{"no questions", "dns: {}", "dns: {alive: []}"},
		{"announced host route", "checks:", "announce: [10.1.9.53/32]\n    checks:"},
		{"two links", "addresses: " + addresses, second("link: {name: b}")[2:]},
		{"one link of somebody else", "- addresses: " + addresses,
			second("name: a\n    link: {name: lo, kind: existing}") + "\n    name: b\n    link: {name: lo, kind: existing}"},
		{"addresses that are always there", "dns: {}",
			"dns: {server: 10.1.9.53}\n    link: {name: lo, kind: existing, when_out: keep}"},
		{"sections left empty", "services:", "log:\nhttp:\n  # listen: 127.0.0.1:1\nservices:"},
		{"insecure false beside a pin", "dns: {}", "dns: {server: 'tls://[::1]', insecure: false, pin: ['" + somePin + "']}"},
		{"insecure false over udp", "dns: {}", "dns: {insecure: false}"},
		{"a name over http", "dns: {}", "http: {url: 'http://127.0.0.1/', server_name: www.example}"},
		{"a page on this box", "dns: {}", "http: {url: 'https://localhost:8443/x?y=z'}"},
		{"any", "checks:", "policy: any\n    checks:"},
		{"at least as a text", "checks:", "policy: at_least 1\n    checks:"},
		{"service path on", "checks:", "service_path: true\n    checks:"},
		{"all addresses", "services:", "http: {listen: ':9953'}\nservices:"},
		{"listen without port", "asn: 65011", "asn: 65011\n  listen: '::'"},
		{"document marks", "\nbgp:", "---\nbgp:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(minimal, tt.old) {
				t.Fatalf("the test replaces nothing: %q", tt.old)
			}
			text := strings.Replace(minimal, tt.old, tt.new, 1)
			c, err := parse("test.yaml", []byte(text), nil)
			if err != nil {
				t.Fatalf("unexpected errors:\n%v\nin\n%s", err, text)
			}
			if len(c.Warnings) > 0 {
				t.Errorf("unexpected warnings: %v", c.Warnings)
			}
		})
	}
}

// TestAlias checks that an alias stands for what it names.
func TestAlias(t *testing.T) {
	text := strings.Replace(minimal, "- dns: {}", "- dns: &d {type: AAAA}\n      - {name: b, dns: *d}", 1)
	c := mustParse(t, text)
	if got := c.Services[0].Checks[1].DNS.Type; got != 28 {
		t.Errorf("the type is %d", got)
	}
}
