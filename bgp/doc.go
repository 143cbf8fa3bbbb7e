// Package bgp announces routes to BGP routers, and tells what each router has
// really been given.
//
// A [Speaker] embeds one GoBGP server for the life of the process, without
// gRPC and without a port that a stranger could reach. It is told the whole
// desired set of routes ([Speaker.Set]) and keeps the sessions by itself.
//
// # Who holds the sockets
//
// GoBGP waits 1.5 to 2 s before its first dial and 5 s after any loss, keeps
// the words of a refusal to itself and leaves MD5 keys behind. So the sockets
// towards the routers are this package's own, and GoBGP sees each session on
// a loopback connection:
//
//	router <-- TCP: MD5, GTSM, device --> session <-- 127.x.y.z --> GoBGP
//
// A session copies whole messages both ways and changes none. It reads along:
// the OPEN tells whose router it is and what it can do, a NOTIFICATION is put
// into words, an UPDATE written to the router is what "announced" means, one
// that comes from it shows the other nodes by their marks (view). That reading
// needs no table: what comes in is neither installed nor passed on, and a
// shared AS number in the path does not hide a route. The process dies whole,
// so a router sees its connection end as it would have without the middle
// piece.
//
// # BFD
//
// A peer with BFD has a lifeline: one session of recuse/bgp/bfd or, with
// ttl_security, two of which one comes up (Peer.strandKinds). All of them share
// one engine (beat), made with the first. RFC 5882 is in gate.go: BFD that goes
// down ends the BGP session at once with Cease, BFD Down; the next one waits
// for BFD for 5 s at most, a strict peer for a minute; the router's AdminDown
// ends nothing and delays nothing. At the end AdminDown follows BGP's Cease,
// for one detection time.
//
// # Who owns what
//
//   - Run's goroutine starts the parts and waits for them.
//   - One goroutine a peer (peer.run) owns that peer: it dials, takes an
//     accepted connection, runs one session at a time, and paces retries.
//   - Two goroutines a session copy, one a direction; each stops the other.
//   - One goroutine accepts, if Config.Listen is set.
//   - GoBGP's goroutines are its own; its events reach a session by channel.
//   - So do BFD's, whose transitions come from one goroutine of its engine.
//   - Set, Update, Peers, ResetPeer and Close may be called from any goroutine.
//     notify is called from all of the above and must not block.
//
// A peer's session settings never change: Update puts another peer in the
// place of one whose settings did, and what may change under a session is in
// its soft.
//
// # Files
//
// Pure, no socket, clock or log: community.go, delta.go, diff.go, gate.go,
// hops.go, message.go, notification.go, origin.go, pace.go, paths.go,
// policy.go, seen.go, tally.go, tap.go, update.go.
// GoBGP's server is touched in core.go and link.go only.
//
// GoBGP keeps some of its state in package variables, so a process has one
// Speaker at a time.
//
// RFCs: 4271 (BGP-4), 4760 and 2545 (IPv6), 7911 (several paths, received
// only), 8950 (IPv4 with an IPv6 next hop), 2385 (MD5), 5082 (GTSM), 6286
// (identifier), 6793 (AS numbers), 8092 (large communities), 8326 (graceful
// shutdown), 9003 (shutdown communication), 9384 (Cease for BFD), 5882 (BFD
// beside BGP), 9687 (send hold timer). Graceful restart (4724, 9494) is left
// out on purpose: a helper would keep a dead node's route.
package bgp
