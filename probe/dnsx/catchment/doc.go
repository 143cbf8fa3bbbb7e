// Package catchment asks an anycast address from many source ports and counts
// which node answers each: the part of the flows that a node catches.
//
// The first flows try every way to ask for the identity; what told a node is
// asked first from then on. The order among those stays the same, so that a
// node that tells itself in two ways is always known by the same one.
//
// Who asks is in survey.go, what one source port asks in flow.go, and its pace in
// pace.go; the counting, in report.go, is pure.
package catchment
