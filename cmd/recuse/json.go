package main

import (
	"encoding/json"
	"io"
)

// printJSON writes a value as people can read it too.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
