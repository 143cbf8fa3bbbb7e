// Package incus raises the anycast design on Incus: Debian containers that are
// booted by systemd, with unbound (or AdGuard Home) and recuse under the unit
// that it ships with, behind FRR in a container of its own. The clients and the
// authority are the namespaces of lab/topology, as is the network: incusd runs
// in the namespace of its switches, so that a container's interface is on one
// of them from its start, and nothing that incusd does leaves the machine.
//
// All of it belongs to one directory below base: incusd's state, every host's
// files, a lock that says that the owner lives. A run whose owner died is swept
// when the next one starts: its containers are known by their control groups.
//
//	image.go     the image: debootstrap, cached as a tarball
//	run.go       the directory, and the sweep
//	daemon.go    incusd and its client
//	box.go       a container
//	incus.go     the bench; raise.go and logs.go its beginning and end
//	node.go      a node; service.go a unit of its systemd
//	router.go    FRR in a container; outside.go a real router in its place
package incus
