// Package lab breaks nodes on purpose and measures what a client feels. It
// raises a topology (lab/topology), sends questions in open loop (lab/load),
// makes a fault, proves that the fault happened to the node that served the
// client, and tells in time order what every party saw.
package lab
