package netlinkx

// Listen is listen, for tests that bring a socket of their own.
var Listen = listen
