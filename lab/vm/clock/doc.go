// Package clock steps the wall clock under two agents that serve, drain and
// hold. It is a test alone, with the build tag vm: it must never run on a machine
// whose clock anybody needs, so it is for the virtual machine of package vm.
package clock
