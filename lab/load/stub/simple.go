package stub

import "time"

// NoneTimeout is how long the stub that does not retry waits, if it is not told
// otherwise, and how long Two waits for each server.
const NoneTimeout = 2 * time.Second

// None asks the first server once and waits: no retry, so that what is lost is
// what the network lost.
func None(timeout time.Duration) Model {
	return Model{Name: "none", Title: "the first server, once, for " + timeout.String(),
		New: func(int) Stub {
			return &ordered{servers: 1, rounds: 1, wait: func(int) time.Duration { return timeout }}
		}}
}

// Two asks the first server, after two seconds the second, and gives up after
// two more: the least that a client with two servers from DHCP does.
func Two() Model {
	return Model{Name: "two", Title: "the first server for 2 s, then the second for 2 s",
		New: func(servers int) Stub {
			return &ordered{servers: min(servers, 2), rounds: 1,
				wait: func(int) time.Duration { return NoneTimeout }}
		}}
}

// Glibc is the resolver of the GNU C library with its defaults, timeout:5 and
// attempts:2 (resolv.conf(5)), in order and not rotating. It waits
// (timeout<<i)/n whole seconds for server i of n, but for the first the timeout
// itself; SERVFAIL, NOTIMP, REFUSED and ICMP errors make it go on at once
// (send_dg in resolv/res_send.c). It hears only the server it waits for. A
// process remembers nothing of a server that was silent.
func Glibc() Model {
	const timeout, attempts = 5, 2
	return Model{Name: "glibc", Title: "in order, 5 s each, twice; SERVFAIL, REFUSED and ICMP: the next at once",
		New: func(servers int) Stub {
			servers = min(servers, 3) // MAXNS in resolv.h
			return &ordered{servers: servers, rounds: attempts, deaf: true, wait: func(i int) time.Duration {
				if i == 0 {
					return timeout * time.Second
				}
				return time.Duration(max(timeout<<i/servers, 1)) * time.Second
			}}
		}}
}
