package config

import (
	"maps"
	"slices"
)

// nearest returns the key that was probably meant by a word, or nothing where
// none is near.
func nearest[V any](word string, known map[string]V) string {
	best, least := "", 3
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if k == loneKey {
			continue
		}
		if n := distance(word, k); n < least && 2*n <= len(k) {
			best, least = k, n
		}
	}
	return best
}

// distance returns how many letters must be changed, added, taken away or
// swapped with their neighbour to make b of a. Case and the choice between
// dash and underscore cost nothing.
func distance(a, b string) int {
	x, y := fold(a), fold(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			rows[i][j] = step(rows, x, y, i, j)
		}
	}
	return rows[len(x)][len(y)]
}

// step returns the distance of the first i bytes of x from the first j of y.
func step(rows [][]int, x, y []byte, i, j int) int {
	change := 1
	if x[i-1] == y[j-1] {
		change = 0
	}
	n := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
	if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
		n = min(n, rows[i-2][j-2]+1)
	}
	return n
}

// fold lowers ASCII letters and makes dashes underscores. What is long beyond
// any key is cut.
func fold(s string) []byte {
	b := []byte(s[:min(len(s), 64)])
	for i, c := range b {
		switch {
		case c >= 'A' && c <= 'Z':
			b[i] = c + 'a' - 'A'
		case c == '-':
			b[i] = '_'
		}
	}
	return b
}
