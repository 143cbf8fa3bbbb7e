package load

import (
	"sort"
	"time"
)

// Window cuts records, in the order of intended times, to those that were meant
// to be asked in a phase: from its begin up to, and without, its end. A zero
// time is the run's own begin or end. A question belongs to the phase in which
// it was asked, whenever it ended. The result shares its memory with records.
func Window(records []Record, from, to time.Time) []Record {
	begin, end := 0, len(records)
	if !from.IsZero() {
		begin = firstAt(records, from)
	}
	if !to.IsZero() {
		end = firstAt(records, to)
	}
	return records[begin:max(begin, end)]
}

// firstAt is the place of the first record not meant to be asked before t.
func firstAt(records []Record, t time.Time) int {
	return sort.Search(len(records), func(i int) bool { return !records[i].Intended.Before(t) })
}
