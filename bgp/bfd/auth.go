package bfd

import (
	"crypto/md5"
	"crypto/sha1"
	"fmt"
)

// An AuthType is a way to authenticate packets, with the values of RFC 5880,
// section 4.1.
type AuthType uint8

// The types of RFC 5880. A meticulous type refuses each sequence number that
// it has seen, the others accept one again: only the meticulous ones keep a
// recorded packet from being played back.
const (
	SimplePassword AuthType = 1 + iota
	KeyedMD5
	MeticulousKeyedMD5
	KeyedSHA1
	MeticulousKeyedSHA1
)

// authTypeNames holds the names under which configurations speak of them.
var authTypeNames = [...]string{
	SimplePassword:      "simple",
	KeyedMD5:            "keyed-md5",
	MeticulousKeyedMD5:  "meticulous-keyed-md5",
	KeyedSHA1:           "keyed-sha1",
	MeticulousKeyedSHA1: "meticulous-keyed-sha1",
}

// String returns the name that ParseAuthType reads.
func (t AuthType) String() string {
	if t >= SimplePassword && int(t) < len(authTypeNames) {
		return authTypeNames[t]
	}
	return fmt.Sprintf("auth-type-%d", uint8(t))
}

// ParseAuthType reads a name such as "meticulous-keyed-sha1".
func ParseAuthType(s string) (AuthType, error) {
	for t := SimplePassword; t <= MeticulousKeyedSHA1; t++ {
		if authTypeNames[t] == s {
			return t, nil
		}
	}
	return 0, fmt.Errorf("authentication %q: must be one of %q",
		s, authTypeNames[SimplePassword:])
}

// An Auth makes a session authenticate its packets and refuse others. The
// first key signs, each of them is accepted: so a key is changed by adding
// the new one last on both ends, then moving it first on both ends, then
// taking the old one away.
type Auth struct {
	Type AuthType
	Keys []Key
}

// A Key is a shared secret and the number under which packets name it.
type Key struct {
	ID     uint8
	Secret []byte
}

// Lengths of authentication sections and secrets (RFC 5880, 4.2 to 4.4).
const (
	simpleHeaderLen = 3 // type, length, key ID
	digestHeaderLen = 8 // those, a reserved byte, the sequence number
	md5SectionLen   = digestHeaderLen + md5.Size
	sha1SectionLen  = digestHeaderLen + sha1.Size
	maxPassword     = 16
)

// Validate tells what is wrong with a configuration of authentication.
func (a *Auth) Validate() error {
	if a.Type < SimplePassword || a.Type > MeticulousKeyedSHA1 {
		return fmt.Errorf("auth.type: %d: must be 1 to 5", a.Type)
	}
	if len(a.Keys) == 0 {
		return fmt.Errorf("auth.keys: none: %v needs at least one", a.Type)
	}
	seen := make(map[uint8]bool)
	for i, k := range a.Keys {
		if n := len(k.Secret); n < 1 || n > a.Type.maxSecret() {
			return fmt.Errorf("auth.keys[%d]: a secret of %d bytes: %v takes 1 to %d",
				i, n, a.Type, a.Type.maxSecret())
		}
		if seen[k.ID] {
			return fmt.Errorf("auth.keys[%d].id: %d: already used by another key", i, k.ID)
		}
		seen[k.ID] = true
	}
	return nil
}

// maxSecret returns the greatest length of a secret in bytes.
func (t AuthType) maxSecret() int {
	if t == KeyedSHA1 || t == MeticulousKeyedSHA1 {
		return sha1.Size
	}
	return maxPassword
}

// meticulous reports whether each packet needs a sequence number of its own.
func (t AuthType) meticulous() bool {
	return t == MeticulousKeyedMD5 || t == MeticulousKeyedSHA1
}

// sectionLen returns the length of the authentication section made with k.
func (t AuthType) sectionLen(k Key) int {
	switch t {
	case SimplePassword:
		return simpleHeaderLen + len(k.Secret)
	case KeyedMD5, MeticulousKeyedMD5:
		return md5SectionLen
	default:
		return sha1SectionLen
	}
}

// key returns the key with that ID.
func (a *Auth) key(id uint8) (Key, bool) {
	for _, k := range a.Keys {
		if k.ID == id {
			return k, true
		}
	}
	return Key{}, false
}
