// Package bfd is Bidirectional Forwarding Detection.
package bfd
