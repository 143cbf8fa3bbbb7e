package doctor

import (
	"os"
	"testing"

	"recuse/netlinkx"
)

// rulesOf reads a ruleset of one chain on the input hook, each of its rules
// written as nft prints it.
func rulesOf(t *testing.T, policy string, rules ...string) Ruleset {
	t.Helper()
	text := `{"nftables": [{"chain": {"family": "inet", "table": "f", "name": "in", "type": "filter", "hook": "input", "policy": "` + policy + `"}},
		{"chain": {"family": "inet", "table": "f", "name": "sub"}},
		{"set": {"family": "inet", "table": "f", "name": "servers", "elem": ["192.0.2.53", {"prefix": {"addr": "203.0.113.0", "len": 24}}]}},
		{"rule": {"family": "inet", "table": "f", "chain": "sub", "handle": 9, "expr": [` + udp53 + `, {"drop": null}]}}`
	for _, r := range rules {
		text += `,{"rule": {"family": "inet", "table": "f", "chain": "in", "handle": 5, "expr": [` + r + `]}}`
	}
	parsed, err := ParseRules([]byte(text + "]}"))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// Statements as nft 1.0.6 prints them.
const (
	udp53   = `{"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": "dport"}}, "right": 53}}`
	tcp53   = `{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 53}}`
	lan     = `{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": {"prefix": {"addr": "10.0.0.0", "len": 8}}}}`
	old     = `{"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": ["established", "related"]}}`
	onLo    = `{"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "lo"}}`
	limited = `{"limit": {"rate": 10, "burst": 5, "per": "second"}}`
	yield   = `{"accept": null}`
	lose    = `{"drop": null}`
)

// TestJudge plays a query over UDP to 192.0.2.53, from nobody knows where, that
// comes by eth0.
func TestJudge(t *testing.T) {
	match := func(op, left, right string) string {
		return `{"match": {"op": "` + op + `", "left": ` + left + `, "right": ` + right + `}}`
	}
	daddr := `{"payload": {"protocol": "ip", "field": "daddr"}}`
	port := `{"payload": {"protocol": "th", "field": "dport"}}`
	tests := []struct {
		name, policy string
		rules        []string
		want         outcomes
		foreign      bool
	}{
		{"nothing", "accept", nil, accept, false},
		{"the policy", "drop", nil, drop, false},
		{"usual rules", "drop", []string{old + "," + yield, onLo + "," + yield, udp53 + "," + yield}, accept, false},
		{"usual rules without DNS", "drop", []string{old + "," + yield, onLo + "," + yield, tcp53 + "," + yield}, drop, false},
		{"open to some", "drop", []string{udp53 + "," + lan + "," + yield}, accept | drop, false},
		{"closed to some", "accept", []string{lan + "," + lose}, accept | drop, false},
		{"closed to some, then to all", "accept", []string{lan + "," + lose, udp53 + `,{"counter": null},` + lose}, drop, false},
		{"a limit", "accept", []string{udp53 + "," + limited + "," + lose}, accept | drop, false},
		{"a limit to what is let in", "drop", []string{udp53 + "," + limited + "," + yield}, accept | drop, false},
		{"rejected", "accept", []string{`{"reject": {"type": "icmpx"}}`}, drop, false},
		{"dropped where it jumps", "accept", []string{`{"jump": {"target": "sub"}}`}, drop, false},
		{"a jump for others", "accept", []string{tcp53 + `,{"jump": {"target": "sub"}}`}, accept, false},
		{"returned", "accept", []string{udp53 + `,{"return": null}`, lose}, accept, false},
		{"a jump without an end", "accept", []string{`{"jump": {"target": "in"}}`}, accept | drop, false},
		{"a set of addresses", "accept", []string{match("==", daddr, `"@servers"`) + "," + lose}, drop, false},
		{"not in a set", "accept", []string{match("!=", daddr, `"@servers"`) + "," + lose}, accept, false},
		{"another address", "accept", []string{match("==", daddr, `"192.0.2.54"`) + "," + lose}, accept, false},
		{"a range of addresses", "accept", []string{match("==", daddr, `{"range": ["192.0.2.1", "192.0.2.99"]}`) + "," + lose}, drop, false},
		{"a range of ports", "accept", []string{match("==", port, `{"range": [1, 1023]}`) + "," + lose}, drop, false},
		{"a set of ports", "accept", []string{match("==", port, `{"set": [22, {"range": [50, 60]}]}`) + "," + lose}, drop, false},
		{"other ports", "accept", []string{match("!=", port, `53`) + "," + lose}, accept, false},
		{"a map", "accept", []string{`{"vmap": {"key": ` + port + `, "data": {"set": [[22, ` + yield + `], [53, ` + lose + `]]}}}`}, drop, false},
		{"a map of others", "accept", []string{`{"vmap": {"key": ` + port + `, "data": {"set": [[22, ` + lose + `]]}}}`}, accept, false},
		{"IPv6 alone", "accept", []string{match("==", `{"meta": {"key": "nfproto"}}`, `"ipv6"`) + "," + lose}, accept, false},
		{"links by a pattern", "accept", []string{match("==", `{"meta": {"key": "iifname"}}`, `"eth*"`) + "," + lose}, drop, false},
		{"what is ours", "drop", []string{match("==", `{"fib": {"result": "type", "flags": ["daddr"]}}`, `"local"`) + "," + yield}, accept, false},
		{"unknown statements", "accept", []string{`{"tomorrow": 1},` + lose}, accept | drop, false},
		{"an extension of iptables", "drop", []string{`{"xt": null},` + yield}, accept | drop, true},
		{"its target", "accept", []string{udp53 + `,{"xt": {"type": "target", "name": "REJECT"}}`}, accept | drop, true},
	}
	p := packet{in: "eth0", to: addr("192.0.2.53"), port: 53}
	for _, tt := range tests {
		v := rulesOf(t, tt.policy, tt.rules...).judge(p)
		if v.set != tt.want || v.foreign != tt.foreign {
			t.Errorf("%s: got %b, %t, want %b, %t", tt.name, v.set, v.foreign, tt.want, tt.foreign)
		}
		if (v.set&drop != 0) != (v.where != "") {
			t.Errorf("%s: outcome %b, and %q drops", tt.name, v.set, v.where)
		}
	}
}

// TestFirewall reads what nft printed of a whole table, and names what is
// dropped once for each address, transport and rule.
func TestFirewall(t *testing.T) {
	text, err := os.ReadFile("testdata/ruleset.json")
	if err != nil {
		t.Fatal(err)
	}
	b := wellBox(t)
	if b.Rules = got(ParseRules(text)); b.Rules.Err != nil {
		t.Fatal(b.Rules.Err)
	}
	compare(t, "a table", Examine(b), []string{
		"error firewall: the policy of nft chain inet filter input drops queries to [2001:db8:9::53]:53 (tcp)",
		"error firewall: rule handle 10 of nft chain inet filter input drops BFD from 198.51.100.1 (udp port 3784)",
	})
	b.Rules = Got[Ruleset]{Value: rulesOf(t, "drop", `{"xt": null},`+yield)}
	b.Ways[0] = Got[netlinkx.Way]{Err: netlinkx.ErrNoWay}
	if found := firewall(b); len(found) > 0 {
		t.Errorf("judged packets without a way: %+v", found)
	}
}

func TestParseRulesFails(t *testing.T) {
	for _, text := range []string{"", "[]", `{"nftables": 1}`, "nonsense"} {
		if _, err := ParseRules([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}
