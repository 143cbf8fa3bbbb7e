// Command vminit is process 1 of the virtual machine that runs tests.
package main

import "recuse/lab/vm/guest"

func main() { guest.Main() }
