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
		{"a limit for each address", "accept", []string{udp53 + `,{"set": {"op": "update", "elem": ` + daddr + `, "set": "@servers", "stmt": [` + limited + `]}},` + lose}, accept | drop, false},
		{"a set that is filled", "accept", []string{udp53 + `,{"set": {"op": "add", "elem": ` + daddr + `, "set": "@servers", "stmt": [{"counter": null}]}},` + lose}, drop, false},
		{"a place without a name", "drop", []string{match("==", `{"payload": {"base": "th", "offset": 16, "len": 16}}`, "53") + "," + yield}, accept | drop, false},
		{"a protocol by its number", "drop", []string{match("==", `{"meta": {"key": "l4proto"}}`, `{"set": [6, 17]}`) + "," + yield}, accept, false},
		{"another protocol by its number", "drop", []string{match("==", `{"payload": {"protocol": "ip", "field": "protocol"}}`, "6") + "," + yield}, drop, false},
		{"a link by its number", "drop", []string{match("==", `{"meta": {"key": "iif"}}`, "3") + "," + yield}, accept | drop, false},
		{"what is not of the link", "accept", []string{match("!=", `{"fib": {"result": "type", "flags": ["daddr", "iif"]}}`, `{"set": ["local", "broadcast"]}`) + "," + lose}, drop, false},
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

// TestJudgeInOrder plays the query through chains that are listed in another
// order than it meets them.
func TestJudgeInOrder(t *testing.T) {
	state := func(word string) string {
		return `{"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": "` + word + `"}}`
	}
	for _, tt := range []struct {
		name, raw, nat, input string
		want                  outcomes
	}{
		{"tracked", tcp53 + `,{"notrack": null}`, "", state("new") + "," + yield, accept},
		{"untracked, and let in as such", udp53 + `,{"notrack": null}`, "", state("untracked") + "," + yield, accept},
		{"untracked, and let in as new", udp53 + `,{"notrack": null}`, "", state("new") + "," + yield, drop},
		{"untracked for some", lan + `,{"notrack": null}`, "", state("new") + "," + yield, accept | drop},
		{"perhaps untracked by iptables", udp53 + `,{"xt": {"type": "target", "name": "CT"}}`, "", state("new") + "," + yield, accept | drop},
		{"sent to another port", "", udp53 + `,{"redirect": {"port": 5353}}`, tcp53 + "," + yield, accept | drop},
		{"sent to a container where it jumps", "", udp53 + `,{"jump": {"target": "docker"}}`, tcp53 + "," + yield, accept | drop},
		{"another port is sent on", "", tcp53 + `,{"dnat": {"addr": "172.17.0.2"}}`, tcp53 + "," + yield, drop},
	} {
		parsed, err := ParseRules([]byte(`{"nftables": [
			{"chain": {"family": "ip", "table": "f", "name": "input", "type": "filter", "hook": "input", "prio": -400, "policy": "drop"}},
			{"chain": {"family": "ip", "table": "f", "name": "nat", "type": "nat", "hook": "prerouting", "prio": -100, "policy": "accept"}},
			{"chain": {"family": "ip", "table": "f", "name": "raw", "type": "filter", "hook": "prerouting", "prio": -300, "policy": "accept"}},
			{"chain": {"family": "ip", "table": "f", "name": "docker"}},
			{"rule": {"family": "ip", "table": "f", "chain": "docker", "expr": [{"dnat": {"addr": "172.17.0.2", "port": 53}}]}},
			{"rule": {"family": "ip", "table": "f", "chain": "raw", "expr": [` + tt.raw + `]}},
			{"rule": {"family": "ip", "table": "f", "chain": "nat", "expr": [` + tt.nat + `]}},
			{"rule": {"family": "ip", "table": "f", "chain": "input", "expr": [` + tt.input + `]}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if v := parsed.judge(packet{in: "eth0", to: addr("192.0.2.53"), port: 53}); v.set != tt.want {
			t.Errorf("%s: got %b, want %b", tt.name, v.set, tt.want)
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
