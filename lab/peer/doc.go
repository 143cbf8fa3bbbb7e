// Package peer puts other agents in recuse's place on the lab's nodes: what
// people use today to announce a service while it is fit, or to move its
// address.
//
//	exabgp      ExaBGP with its own healthcheck, a process for each family
//	frr-script  FRR announces a link's addresses; a script sets the link up and down
//	bird-script BIRD announces the addresses in a list; a script writes the list
//	keepalived  VRRP: one node at a time holds the address; no BGP
//
// Each has two sets of settings: its own defaults, and Tuned, as fast as they
// go on a box that runs all nodes at once. The check is the same for all, a
// query that no cache can answer, made by Debian's dig: it is the best that
// these agents can be given, and better than most are.
//
// All programs are Debian's: exabgp, frr, bird2, keepalived, bind9-dnsutils.
package peer
