package report

import (
	"strings"

	"recuse/lab/result"
)

// mood is how good a state is, which its look on the page says without colour:
// light, hatched, dark.
type mood string

// The moods, from the worst to the best.
const (
	moodBad     mood = "out"     // dark
	moodWarn    mood = "second"  // hatched
	moodUnknown mood = "unknown" // dotted
	moodGood    mood = "good"    // light
	moodPlain   mood = "plain"   // a border only: a value that is neither
)

// moods are ordered from the worst, for states that share one spot.
var moods = []mood{moodBad, moodWarn, moodUnknown, moodGood, moodPlain}

// states are those that have a mood.
var states = map[string]mood{
	"announced": moodGood, "ok": moodGood, "up": moodGood, "established": moodGood,
	"depreferred": moodWarn, "slow": moodWarn, "sick": moodWarn, "draining": moodWarn,
	"withdrawn": moodBad, "dead": moodBad, "down": moodBad, "admindown": moodBad, "idle": moodBad, "active": moodBad,
	"connect": moodBad, "opensent": moodBad, "openconfirm": moodBad, "init": moodBad, "stopped": moodBad, "failed": moodBad, result.StateGone: moodBad, "killed": moodBad,
	"unknown": moodUnknown, "frozen": moodUnknown, "silent": moodUnknown,
}

// moodOf is the mood of a state by its first word; no next hops are bad.
func moodOf(state string) mood {
	word, rest, _ := strings.Cut(strings.ToLower(state), " ")
	if m, ok := states[word]; ok {
		return m
	}
	if word == "none" || (word == "no" || word == "0") && strings.HasPrefix(rest, "next hop") {
		return moodBad
	}
	return moodPlain
}
