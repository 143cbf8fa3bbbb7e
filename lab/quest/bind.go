package quest

import (
	"fmt"
	"time"
)

// bind forwards. Its limit (BIND 9 Administrator Reference Manual, Response Rate
// Limiting) counts what it would answer. What is above the limit becomes a debt,
// of at most as many seconds as window says (15 by default), during which even
// fewer questions go unanswered. slip is how often an empty, truncated answer is
// given in place of none.
var bind = resolver{
	name: "bind", note: "forwards", program: "named", debian: "bind9", version: []string{"-v"},
	limit: "rate-limit { all-per-second %d; window 1; slip 0; };",
	debt:  time.Second,
	config: func(s site) string {
		return fmt.Sprintf(`options {
  directory %q;
  managed-keys-directory %q;
  pid-file none;
  lock-file none;
  session-keyfile none;
  listen-on port 53 { %s; };
  listen-on-v6 { none; };
  recursion yes;
  allow-query { any; };
  allow-recursion { any; };
  dnssec-validation no;
  empty-zones-enable no;
  forward only;
  forwarders { %s; };
  %s
};
controls { };
zone "lan" { type forward; forward only; forwarders { %s; }; };
zone "10.in-addr.arpa" { type forward; forward only; forwarders { %[6]s; }; };
`, s.dir, s.dir, s.listen, s.internet, s.limit, s.home)
	},
	argv: func(program, config string) []string { return []string{program, "-g", "-c", config} },
}
