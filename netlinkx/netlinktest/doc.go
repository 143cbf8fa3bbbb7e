// Package netlinktest tests what works on links: a Fake holder over a kernel
// that lives in memory, a Box over the real kernel of a fresh network
// namespace, and, on both, the same hooks to do what an operator does and the
// same rendering of the whole state, so that one table of scenarios runs on
// either.
package netlinktest
