package guest

import (
	"fmt"
	"strings"
)

// Totals counts top-level tests.
type Totals struct{ Passed, Failed, Skipped int }

// Add adds o.
func (t *Totals) Add(o Totals) {
	t.Passed += o.Passed
	t.Failed += o.Failed
	t.Skipped += o.Skipped
}

// String is what the last line of a run says: "12 passed, 0 failed".
func (t Totals) String() string {
	s := fmt.Sprintf("%d passed, %d failed", t.Passed, t.Failed)
	if t.Skipped > 0 {
		s += fmt.Sprintf(", %d skipped", t.Skipped)
	}
	return s
}

// OK reports whether a run proves anything, and nothing bad.
func (t Totals) OK() bool { return t.Failed == 0 && t.Passed > 0 }

// Count takes in one line of what a test binary prints with -test.v. Subtests are
// indented, and are part of their test.
func (t *Totals) Count(line string) {
	switch {
	case strings.HasPrefix(line, "--- PASS: "):
		t.Passed++
	case strings.HasPrefix(line, "--- FAIL: "):
		t.Failed++
	case strings.HasPrefix(line, "--- SKIP: "):
		t.Skipped++
	}
}

// mark begins the line that carries the totals to the host.
const mark = "recuse-vm-totals:"

// line is the totals as the guest prints them.
func (t Totals) line() string {
	return fmt.Sprintf("%s %d %d %d.", mark, t.Passed, t.Failed, t.Skipped)
}

// ParseTotals reads the line that carries the totals. The full stop guards
// against a line of which the console lost the end.
func ParseTotals(line string) (t Totals, ok bool) {
	if !strings.HasPrefix(line, mark) {
		return Totals{}, false
	}
	var end string
	n, err := fmt.Sscanf(line, mark+" %d %d %d%s", &t.Passed, &t.Failed, &t.Skipped, &end)
	return t, err == nil && n == 4 && end == "."
}
