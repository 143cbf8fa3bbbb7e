// Package config reads the configuration file: strict YAML through viper
// into raw text, and from there, with our own rules and our own errors, into
// the types that the agent and the packages below it work with.
//
// The way of a setting is document.go (YAML to a tree of text that the raw
// structs allow; unknown, repeated and misshapen keys end here), load.go
// (viper lays the RECUSE_ variables over it and fills the structs of raw.go),
// and the files named build_: one for each part, each of which turns text into
// values and reports what is wrong with them. What spans several parts is in
// cross.go and budget.go. Every default is in defaults.go.
//
// All problems of a file are found in one go. Nothing here looks at the box:
// links, sockets and the kernel are the agent's to check.
package config
