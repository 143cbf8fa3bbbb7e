// Package routers writes the router's side of a set of nodes: the sessions, the
// filters, ECMP, and the comments that say why each knob is there.
//
// # What every dialect must do
//
// A node can judge whether others serve only by what its routers send it, so a
// router here is asked for more than to accept a route:
//
//   - Input takes exactly the prefixes of that group of nodes, by prefix and
//     length, and nothing else. RFC 8212 makes a filter good manners; for us it
//     bounds the harm of a node with a wrong configuration.
//   - Output sends exactly the same prefixes back. A node that wants to leave
//     looks for the mark of another node, a large community, in what it is sent,
//     so a deny-all filter would leave it blind. Communities are kept whole.
//   - AS override is never used: a mark counts only if its first field is the
//     origin AS of the route, and the override hides that AS. Nodes that share an
//     ASN accept it in received paths themselves; some routers must be told to
//     send such a path at all (RouterOS: no-early-cut).
//   - On iBGP the router reflects, next hop unchanged, since a route learned from
//     one internal peer is otherwise never told to another (RFC 4456).
//   - A route with GRACEFUL_SHUTDOWN (RFC 8326) loses to one without. FRR does
//     that by itself on eBGP; the other dialects have it in the input filter. On
//     iBGP the node's own LOCAL_PREF 0 says it as well.
//   - Equal routes of different ASNs are balanced. FRR needs multipath-relax for
//     that, BIRD merge paths, RouterOS multipath (7.20 and later).
//   - Graceful restart is off on both ends: a helper keeps a dead node's route.
//     FRR 8.4 does not offer it less for a peer group that says so, hence the line
//     beside each neighbour.
//   - BFD has the node's timers. FRR 8.4 makes it multihop (RFC 5883) for an eBGP
//     neighbour with GTSM, so the node must speak that; its iBGP on one link and
//     all of BIRD's direct sessions are single hop.
//   - Prefix limits warn or block, and never close a session, since a limit that
//     closes one takes a healthy node out.
//   - Timers stand beside each neighbour, since FRR delays a BFD down by 30 s
//     without (FRR issue 22097).
//
// # Shape
//
// Render checks the nodes ([Node], check.go), makes of them a plan without
// dialect (plan.go: groups of nodes with the same prefixes, sessions in order),
// and lets one template of templates/ write it. All output is sorted, so the same
// nodes give the same text in whatever order they came.
//
// FRR reads one integrated file through vtysh, but a daemon started by hand reads
// a file of its own, and bgpd that meets a bfd block there skips the rest of it
// (8.4.4). So the text is made of one part for each daemon; [Render] joins them,
// [RenderDaemons] hands them out apart.
//
// What a template cannot know stays a comment: the names of the router's
// interfaces, its sysctls, its firewall. The RouterOS dialects are written from
// the vendor's reference and were not run on a device; their header says so.
package routers
