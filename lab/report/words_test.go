package report

import (
	"testing"
	"time"

	"recuse/lab/load"
)

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", time.Microsecond: "<0.01 s", 850 * time.Millisecond: "0.85 s", 9994 * time.Millisecond: "9.99 s",
		20800 * time.Millisecond: "20.8 s", 305 * time.Second: "305 s", load.Infinite: "endless",
	} {
		if got := seconds(d); got != want {
			t.Errorf("%d: unexpected %q, want %q", d, got, want)
		}
	}
}

func TestLatency(t *testing.T) {
	for d, want := range map[time.Duration]string{
		410 * time.Microsecond: "0.41 ms", 61 * time.Millisecond: "61 ms", 1800 * time.Millisecond: "1.80 s", load.Infinite: "lost",
	} {
		if got := latency(d); got != want {
			t.Errorf("%d: unexpected %q, want %q", d, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := number(n); got != want {
			t.Errorf("%d: unexpected %q, want %q", n, got, want)
		}
	}
}

func TestByNode(t *testing.T) {
	if got, want := byNode(map[string]int{"n2": 1500, "n1": 2, "": 3}), "unnamed 3, n1 2, n2 1,500"; got != want {
		t.Errorf("unexpected %q, want %q", got, want)
	}
}

// TestPlain: nothing that a file says moves the cursor, ends a cell of a table,
// or becomes a tag.
func TestPlain(t *testing.T) {
	for s, want := range map[string]string{
		"node-frozen, 0.5 s":            "node-frozen, 0.5 s",
		"a|b\nc\td":                     `a\|b c d`,
		"\x1b[2J\x07x\u202ey\u200b":     `\[2Jxy`,
		"<script>&":                     "&lt;script&gt;&amp;",
		"[x](y) `z` *b* _i_ #1 ~s~ \\|": "\\[x\\](y) \\`z\\` \\*b\\* \\_i\\_ #1 \\~s\\~ \\\\\\|",
		"x86_64 a__b":                   `x86_64 a\_\_b`,
		"\xff\xfe":                      "",
	} {
		if got := plain(s); got != want {
			t.Errorf("%q: unexpected %q, want %q", s, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for s, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abc…", "ääää": "ääää", "äääää": "äää…"} {
		if got := cut(s, 4); got != want {
			t.Errorf("%q: unexpected %q, want %q", s, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for want, n := range map[string][]int{"": nil, "7": {7}, "1–3, 5, 7–8": {8, 1, 2, 3, 5, 7}} {
		if got := spans(n); got != want {
			t.Errorf("%v: unexpected %q, want %q", n, got, want)
		}
	}
}

func TestBarWidth(t *testing.T) {
	for d, want := range map[time.Duration]float64{0: 0, time.Millisecond: 2, time.Second: 50, 100 * time.Second: 100, time.Hour: 100} {
		if got := barWidth(d); got != want {
			t.Errorf("%s: unexpected width %v, want %v", d, got, want)
		}
	}
}
