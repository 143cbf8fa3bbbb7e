// Package authority is the lab's authoritative DNS server: the root, the home
// zone "lan." and an "internet" zone, each with a delay and a failure that a
// test sets while it runs.
//
// A failure or delay may be towards some clients alone, and may meet a part of
// the queries only, or those over one transport, or those above a rate. On a
// node it stands in for a resolver that can be slow, wrong or silent at will.
//
// It runs as a process of its own (recuse-authority), so that the lab's load
// generator and the server do not share a scheduler. A Client steers it over a
// Unix socket with one JSON object a line.
package authority
