// Package guest is what happens inside the virtual machine: [Main] is process 1,
// mounts what a Go test expects of a Linux box, loads the modules, runs the test
// binaries one after another, prints the totals, and powers off.
//
// The host puts a [Plan] into the image, and reads the totals off the console.
package guest
