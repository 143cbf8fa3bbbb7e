// Package netns raises the designs that are compared in network namespaces:
// lab/topology seen as a bench.
package netns
