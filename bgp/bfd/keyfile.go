package bfd

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ReadKeys reads the keys of an Auth from a file, in their order there. Each
// line is a key: its number, white space, and its secret, which is the rest of
// the line, or bytes in hexadecimal after "hex:". Empty lines and those that
// begin with # are skipped.
//
//	1 the old secret
//	2 hex:8f0d62e1a4
//
// An error names the file and the line, and never shows a secret.
func ReadKeys(path string) ([]Key, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read keys: %w", err)
	}
	var keys []Key
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		k, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf("failed to read keys: %s:%d: %w", path, n, err)
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("failed to read keys: %s: there is none in it", path)
	}
	return keys, nil
}

// parseKey reads one line of a key file.
func parseKey(line string) (Key, error) {
	number, secret := line, ""
	if i := strings.IndexAny(line, " \t"); i > 0 {
		number, secret = line[:i], strings.TrimLeft(line[i:], " \t")
	}
	id, err := strconv.ParseUint(number, 10, 8)
	if err != nil || secret == "" {
		return Key{}, errors.New("must be a number of 0 to 255, a space and a secret")
	}
	digits, isHex := strings.CutPrefix(secret, "hex:")
	if !isHex {
		return Key{ID: uint8(id), Secret: []byte(secret)}, nil
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return Key{}, fmt.Errorf("key %d: hex: must be followed by pairs of hexadecimal digits", id)
	}
	return Key{ID: uint8(id), Secret: raw}, nil
}
