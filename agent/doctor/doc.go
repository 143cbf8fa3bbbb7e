// Package doctor looks for what commonly breaks anycast on a box. It changes
// nothing: it reads the kernel's tables and settings, asks a running agent for
// its status, and asks the resolver what the checks of the configuration ask.
//
// Look reads (read*.go), and puts all of it into a Box. Examine judges: each
// examination of the table (table.go) is a pure function of the Box. What could
// not be read is a finding too, of the severity Unknown, and no pass.
package doctor
