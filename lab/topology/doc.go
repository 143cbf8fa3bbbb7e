// Package topology raises a home network in network namespaces: a client, one
// or two routers (FRR or BIRD), nodes (unbound and recuse) and an authority,
// on three bridges in a namespace of their own.
//
//	client -- [clients] -- router -- [lan] -- n1, n2, n3
//	                          |
//	                        [wan] -- authority
//
// Every host is one namespace; every daemon is a child process in the
// foreground. A port's other end is on a bridge, so a node that is frozen or
// unplugged shows no loss of carrier anywhere, as behind a real switch.
//
// Who owns what: each Namespace has one thread that lives as long as it does.
// Processes are started by that thread, so they are born in the namespace and
// the kernel kills them when the lab's owner dies (PR_SET_PDEATHSIG, which is
// tied to the thread). What even that leaves behind - names of namespaces, run
// directories - is swept when the next lab starts: a run directory whose lock
// nobody holds belongs to a dead run.
package topology
