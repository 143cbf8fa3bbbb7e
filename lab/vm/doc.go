// Package vm runs test binaries on a kernel that the host does not have: Debian's
// cloud kernels for arm64 and amd64, whose dummy links are real, in qemu.
//
//	fetch-kernel.sh   kernel and modules, by apt, into a cache
//	Build             test binaries and init, static, cross compiled
//	Image             an initramfs of them (newc cpio) with the modules they need
//	Machine.Run       qemu, its console, and the verdict
//	guest             what runs inside: init boots, runs the tests, counts, powers off
//
// The emulation is TCG, never kvm: where /dev/kvm opens but is a nested
// imitation, an ordinary guest hangs in early boot, so a fallback would hang too.
// TCG also runs arm64 on amd64.
//
// qemu exits with 0 whatever happened inside, and a guest whose kernel panicked
// does too. So the verdict is what the guest printed last, the totals; a run
// without them, or in which no test ran, has failed.
package vm
