// Package quest answers two questions that every home with a resolver has, for
// each common resolver in turn, with the same tools and on the same path:
//
//   - Reverse: how long do the reverse lookups of a lease table take, one after
//     the other, cold (just started) and warm (asked before)?
//   - Ramp: how many questions a second does it answer, and if a limit of the
//     rate is configured, at which rate do clients feel it?
//
// The resolver runs on a node of a small lab, the asker is the lab's client, one
// router away, and the authority is behind the same router:
//
//	client -- router -- node (the resolver) -- router -- authority
//
// resolvers.go and the files named after resolvers say how each is started;
// search.go is the search for a rate and knows no resolver; report.go renders.
package quest
