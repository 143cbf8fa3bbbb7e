// Package netlinkx holds a service's addresses on a link of this box: it makes
// the link, raises and lowers it, and tells what the kernel says of it.
//
// Three layers, one file or more each. What is wanted is computed by pure
// functions from what the kernel says (plan.go, state.go); Holder (holder.go)
// reads, plans and writes; the kernel stands behind the interface Kernel
// (kernel.go), of which rtnl*.go is the real one and netlinktest has a fake.
// Since every write comes from a plan, and a plan over a state that is already
// right is empty, every operation may be repeated and then writes nothing.
//
// A Holder belongs to one goroutine and to the network namespace of the thread
// that made it. Watch and Connected look at the namespace of their caller's
// thread.
//
// # What is whose
//
// A link made here bears the alias "recuse:SERVICE". The kernel takes no alias
// in the request that creates a link, so it is created with a hardware address
// derived from the service's name, and marked by a second request: a link
// without an alias but with that address is one whose maker was killed between
// the two, and is adopted. Any other link of the name is never touched.
//
// The unreachable routes bear the protocol number 137, which neither the
// kernel's headers nor iproute2's list give to anybody; only such routes are
// ever taken away.
package netlinkx
