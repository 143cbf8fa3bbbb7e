package probe

import "fmt"

// Level is what the evidence says of a check or of a whole service. The levels
// from OK to Dead are ordered, worse ones being greater; Unknown stands aside.
type Level uint8

// The levels. The zero value is Unknown: nothing has been shown yet.
const (
	// Unknown: nothing is known, at the start or because no probe could be made.
	Unknown Level = iota
	// OK: it answers rightly.
	OK
	// Slow: it answers rightly, but too late too often.
	Slow
	// Sick: it answers wrongly, or not at all while something shows life.
	Sick
	// Dead: nobody listens, or nothing has shown life for long.
	Dead
)

// levelNames holds the text of each level, as configuration and status spell it.
var levelNames = [...]string{"unknown", "ok", "slow", "sick", "dead"}

// String returns the level's name as configuration and status spell it.
func (l Level) String() string {
	if int(l) >= len(levelNames) {
		return fmt.Sprintf("level(%d)", uint8(l))
	}
	return levelNames[l]
}

// MarshalText returns the level's name, an error if there is no such level.
func (l Level) MarshalText() ([]byte, error) {
	if int(l) >= len(levelNames) {
		return nil, fmt.Errorf("failed to write level %d: there is no such level", uint8(l))
	}
	return []byte(levelNames[l]), nil
}

// UnmarshalText sets the level from its name.
func (l *Level) UnmarshalText(text []byte) error {
	for i, name := range levelNames {
		if name == string(text) {
			*l = Level(i)
			return nil
		}
	}
	return fmt.Errorf("%q: not a level, use unknown, ok, slow, sick or dead", text)
}
