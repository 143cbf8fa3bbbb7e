package quest

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"recuse/lab/load"
	"recuse/lab/result"
)

// Markdown is the report as a page.
func (r ReverseReport) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Reverse lookups of %d leases, by resolver\n\n%s", r.Leases, box(r.Date, r.Machine, r.Busy))
	fmt.Fprintf(&b, "One PTR lookup after the other, as a script makes them; cold is a resolver that has just started. ")
	fmt.Fprintf(&b, "The last column is how many of the questions reached the authority, which answers after %s.\n\n", round(r.Delay))
	b.WriteString("| resolver | | right | p50 | p95 | p99 | total | authority asked |\n")
	b.WriteString("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, res := range r.Results {
		res.Cold.row(&b, named(res.Resolver, res.Version, res.Note), "cold")
		res.Warm.row(&b, "", "warm")
	}
	left(&b, r.LeftOut)
	return b.String()
}

// row writes a pass as a line of the table.
func (p Pass) row(b *strings.Builder, who, which string) {
	fmt.Fprintf(b, "| %s | %s | %d of %d | %s | %s | %s | %s | %d |\n", who, which,
		p.Right, p.Asked, round(p.P50), round(p.P95), round(p.P99), round(p.Total), p.Authority)
}

// Markdown is the report as a page.
func (r RampReport) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Capacity, by resolver\n\n%s", box(r.Date, r.Machine, r.Busy))
	fmt.Fprintf(&b, "Cached names over UDP, a new port each question, held for %s at each rate. ", round(r.Hold))
	fmt.Fprintf(&b, "A rate is held while no more than %g %% are lost and p99 is at most %s. ", 100*r.Loss, round(r.Slow))
	fmt.Fprintf(&b, "The generator shares the machine with the resolver and asks at most %s a second.\n\n", rate(r.Max))
	b.WriteString("| resolver | limit configured | held | not held | since | p50 and p99 when held |\n")
	b.WriteString("| --- | --- | ---: | ---: | --- | ---: |\n")
	for _, res := range r.Results {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", named(res.Resolver, res.Version, res.Note),
			orNone(code(res.Setting)), res.held(), rate(res.Fails), orNone(res.Why), res.times())
	}
	left(&b, r.LeftOut)
	return b.String()
}

// held is the rate that was held, and whether the generator had its part in it.
func (r RampResult) held() string {
	switch s, ok := r.best(); {
	case !ok:
		return "none"
	case s.Late:
		return rate(r.Held) + " (the generator was late)"
	}
	return rate(r.Held)
}

// times are those at the rate that was held.
func (r RampResult) times() string {
	s, ok := r.best()
	if !ok || s.Late {
		return "-"
	}
	return round(s.P50) + ", " + round(s.P99)
}

// best is the step at which the highest rate was held.
func (r RampResult) best() (best Step, ok bool) {
	for _, s := range r.Steps {
		if s.Held && s.Rate == r.Held {
			best, ok = s, true
		}
	}
	return best, ok
}

// String is the step in a line.
func (s Step) String() string {
	said := "held"
	if !s.Held {
		said = s.Why
	}
	if s.Late {
		said += " (the generator was late)"
	}
	return fmt.Sprintf("%s a second: %d of %d lost, p99 %s: %s", rate(s.Rate), s.Lost, s.Asked, round(s.P99), said)
}

// box says when and where it was, and what else the box had to do.
func box(date time.Time, m result.Machine, busy string) string {
	return fmt.Sprintf("%s, %s, %d cores, %s, kernel %s; load averages %s when it began.\n\n",
		date.UTC().Format("2006-01-02 15:04 UTC"), m.CPU, m.Cores, m.System, m.Kernel, busy)
}

// busy are the box's load averages over 1, 5 and 15 minutes.
func busy() string {
	text, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return "unknown"
	}
	return strings.Join(fields[:3], ", ")
}

// named is a resolver's name, its version and what is not its default.
func named(name, version, note string) string {
	text := "**" + name + "**"
	for _, more := range []string{version, note} {
		if more != "" {
			text += ", " + more
		}
	}
	return text
}

// left writes what was left out, if anything.
func left(b *strings.Builder, out []LeftOut) {
	for i, l := range out {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "* Left out: %s: %s.\n", l.Resolver, l.Why)
	}
}

// code is a setting as Markdown shows it.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// orNone is a dash in place of nothing.
func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// rate is a rate for people; a dash for none.
func rate(r float64) string {
	if r == 0 {
		return "-"
	}
	digits := fmt.Sprintf("%.0f", r)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// round is a duration in three digits or less, "none" if it never ended.
func round(d time.Duration) string {
	switch {
	case d == load.Infinite:
		return "none"
	case d <= 0:
		return "0 ms"
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	ms := d.Seconds() * 1000
	scale := math.Pow(10, 2-math.Floor(math.Log10(ms)))
	return fmt.Sprintf("%v ms", math.Round(ms*scale)/scale)
}
