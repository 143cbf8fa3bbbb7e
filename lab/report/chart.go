package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// area is a filled shape of a chart, drawn in bins by chartHeight.
type area struct{ Class, D string }

// chartHeight is the height of every chart in its own units.
const chartHeight = 100

// leastHeight is that of a value above zero, so that a single lost question is
// seen among thousands.
const leastHeight = 3

// stack draws the outcomes above each other, failures at the bottom where their
// foot is level.
func (b bins) stack() []area {
	foot := make([]float64, b.axis.bins)
	var areas []area
	top := b.top()
	for o := range outcomes {
		head := slices.Clone(foot)
		for i, e := range b.ends {
			head[i] = min(foot[i]+height(e[o], top), chartHeight)
		}
		if d := shape(foot, head); d != "" {
			areas = append(areas, area{outcomeNames[o], d})
		}
		foot = head
	}
	return areas
}

// height is the height of a count in a chart whose top is the most.
func height(n, top int) float64 {
	if n == 0 || top == 0 {
		return 0
	}
	return max(float64(n)/float64(top)*chartHeight, leastHeight)
}

// nodeArea draws one node's answers, on the same scale for all nodes.
func (b bins) nodeArea(name string) area {
	head := make([]float64, b.axis.bins)
	top := b.topNode()
	for i, n := range b.nodes[name] {
		head[i] = min(height(n, top), chartHeight)
	}
	return area{"node", shape(make([]float64, len(head)), head)}
}

// The scale of the slowest answers is logarithmic, from a millisecond to ten
// seconds: four decades.
const (
	fastest = time.Millisecond
	decades = 4
)

// slowArea draws the slowest answer of each bin.
func (b bins) slowArea() area {
	head := make([]float64, b.axis.bins)
	for i, d := range b.slowest {
		if d > 0 {
			head[i] = logHeight(d)
		}
	}
	return area{"slowest", shape(make([]float64, len(head)), head)}
}

// logHeight is the height of a time on the logarithmic scale.
func logHeight(d time.Duration) float64 {
	h := math.Log10(float64(d)/float64(fastest)) / decades * chartHeight
	return min(max(h, leastHeight), chartHeight)
}

// shape is the path of the area between two step lines, a figure for each run
// of bins where there is any area; "" if there is none. Its y grows downward.
func shape(foot, head []float64) string {
	var d strings.Builder
	for i := 0; i < len(foot); i++ {
		if head[i] <= foot[i] {
			continue
		}
		end := i
		for end < len(foot) && head[end] > foot[end] {
			end++
		}
		fmt.Fprintf(&d, "M%d %sV%s", i, down(foot[i]), down(head[i]))
		for j := i + 1; j < end; j++ {
			if head[j] != head[j-1] {
				fmt.Fprintf(&d, "H%dV%s", j, down(head[j]))
			}
		}
		fmt.Fprintf(&d, "H%dV%s", end, down(foot[end-1]))
		for j := end - 2; j >= i; j-- {
			if foot[j] != foot[j+1] {
				fmt.Fprintf(&d, "H%dV%s", j+1, down(foot[j]))
			}
		}
		d.WriteString("z")
		i = end
	}
	return d.String()
}

// down turns a height into a y.
func down(h float64) string { return short(math.Round((chartHeight-h)*10) / 10) }

// hit is a part of the chart that says its numbers under the pointer.
type hit struct{ X, Width, Text string }

// maxHits bounds the parts of a chart that say their numbers.
const maxHits = 60

// hits are the parts in which something failed, each a bin or a few.
func (b bins) hits() []hit {
	var all []hit
	step := (b.axis.bins + maxHits - 1) / maxHits
	for i := 0; i < b.axis.bins; i += step {
		var sum [outcomes]int
		for _, e := range b.ends[i:min(i+step, b.axis.bins)] {
			for o, n := range e {
				sum[o] += n
			}
		}
		if total(sum) == sum[answered] {
			continue
		}
		from := b.from.Add(time.Duration(i) * b.width)
		all = append(all, hit{percent(b.at(from)), percent(float64(step) / float64(b.axis.bins) * 100),
			fmt.Sprintf("from %s, for %s: %s", offset(from.Sub(b.zero)), seconds(time.Duration(step)*b.width), numbers(sum))})
	}
	return all
}

// numbers says how many questions ended how.
func numbers(e [outcomes]int) string {
	text := fmt.Sprintf("%d asked", total(e))
	for o, n := range e {
		if n > 0 && o != answered {
			text += fmt.Sprintf(", %d %s", n, outcomeNames[o])
		}
	}
	return text
}
