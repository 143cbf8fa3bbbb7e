package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"recuse/lab/result"
	"recuse/lab/scenario"
)

// progress shows how a batch goes: on a terminal in one line that is written
// over, else in a line a step. It is safe for several goroutines.
type progress struct {
	out   io.Writer
	width int // of the terminal; 0: there is none
	all   int
	start time.Time

	mu     sync.Mutex
	ended  int
	active []active // in the order of their begin
}

// active is a run under way and what it does.
type active struct{ id, text string }

// newProgress shows the progress of so many runs.
func newProgress(out io.Writer, all int) *progress {
	return &progress{out: out, width: terminal(out), all: all, start: time.Now()}
}

// terminal is the width of a terminal; 0 for what is none.
func terminal(out io.Writer) int {
	f, ok := out.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return max(int(size.Col), 20)
}

// step tells what a run does.
func (p *progress) step(t scenario.Task, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := t.Options.ID
	if p.width == 0 {
		fmt.Fprintf(p.out, "%7.1fs  %s: %s\n", time.Since(p.start).Seconds(), id, text)
		return
	}
	i := slices.IndexFunc(p.active, func(a active) bool { return a.id == id })
	if i < 0 {
		i = len(p.active)
		p.active = append(p.active, active{id: id})
	}
	p.active[i].text = text
	p.draw()
}

// finished tells a result, in a line that stays.
func (p *progress) finished(r result.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	p.active = slices.DeleteFunc(p.active, func(a active) bool { return a.id == r.ID })
	p.wipe()
	fmt.Fprintf(p.out, "[%d/%d] %s: %s\n", p.ended, p.all, r.ID, outcome(r))
	p.draw()
}

// end takes the line away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = nil
	p.wipe()
}

// draw writes the line anew.
func (p *progress) draw() {
	if p.width == 0 || len(p.active) == 0 {
		return
	}
	var parts []string
	for _, a := range p.active {
		parts = append(parts, a.id+": "+a.text)
	}
	line := []rune(fmt.Sprintf("%d/%d  %s", p.ended, p.all, strings.Join(parts, " | ")))
	if len(line) >= p.width {
		line = append(line[:p.width-2], '…')
	}
	p.wipe()
	fmt.Fprint(p.out, string(line))
}

// wipe clears the line.
func (p *progress) wipe() {
	if p.width > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// outcome is a run in a line.
func outcome(r result.Run) string {
	f := r.Figures
	switch {
	case r.LeftOut != "":
		return "left out: " + r.LeftOut
	case r.Void != "":
		return "VOID: " + r.Void
	}
	return fmt.Sprintf("%d asked, %d lost, %d failed, %d stalled; felt outage %s, worst gap %s", f.Asked, f.Lost, f.Bad,
		f.Stalled, f.Outage.Round(time.Millisecond), f.WorstGap.Round(time.Millisecond))
}
