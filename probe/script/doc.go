// Package script probes by running a program: exit code 0 passes.
//
// # What the program gets
//
// Its input is /dev/null, its directory is /, and its environment is PATH
// (the usual six directories), LANG=C, RECUSE_CHECK and RECUSE_SERVICE (the
// names of the check and of its service), and nothing else of the agent's. What
// it writes to its output and its error output is read without end; the first
// 4 KiB are kept, and their first line is shown as evidence.
//
// # How it ends
//
// It runs in a process group of its own. At the deadline the whole group is
// killed (SIGKILL, so that nothing is waited for), and so is whatever is left of
// the group when the program itself ends. A process that has left the group (a
// daemon, by setsid) lives on; it can hold up neither the probe nor a file
// descriptor. If the agent is killed, the kernel kills the program.
//
// # Who owns what
//
// Each run has one goroutine that starts, awaits and reaps the process, locked
// to its thread, and one that reads the output. A process that even SIGKILL does
// not end (stuck in the kernel, on a dead disk) keeps the first of them; until
// it has ended no other is started.
package script
