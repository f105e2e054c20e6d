package evaluate

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/display"
	"golang.org/x/term"
)

// progress shows the progress of an evaluation on one line.
type progress struct {
	w       io.Writer
	bar     bool          // w is a terminal
	every   time.Duration // the minimum time between two lines, or two updates of the bar
	began   time.Time
	shown   time.Time
	length  int // the length of the last line on a terminal
	total   int
	resumed int // the number of results that were read from the results file

	ended, errors, noAnswers int

	scores sums
}

func newProgress(w io.Writer, total int) *progress {
	now := time.Now()
	p := &progress{w: w, every: 5 * time.Second, total: total, began: now, shown: now}
	if f, ok := w.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(f.Fd())) {
		p.bar, p.every = true, 100*time.Millisecond
	}
	return p
}

// add counts a result.
func (p *progress) add(r *Result) {
	p.ended++
	if r.NoAnswer {
		p.noAnswers++
	}
	if r.failed() {
		p.errors++
	} else {
		p.scores = p.scores.plus(r.Score.Value, r.Weight)
	}
}

// show writes the progress if p.every has passed since the last time, or if the evaluation has ended.
func (p *progress) show(end bool) {
	now := time.Now()
	if p.w == nil || !end && now.Sub(p.shown) < p.every {
		return
	}
	p.shown = now
	line := p.line(now.Sub(p.began))
	if !p.bar {
		fmt.Fprintln(p.w, line)
		return
	}
	const width = 20
	full := width * p.ended / max(p.total, 1)
	line = "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "] " + line
	blank := strings.Repeat(" ", max(p.length-len(line), 0))
	p.length = len(line)
	fmt.Fprint(p.w, "\r"+line+blank)
	if end {
		fmt.Fprintln(p.w)
	}
}

// line returns the progress as text.
func (p *progress) line(elapsed time.Duration) string {
	line := fmt.Sprintf("%d/%d", p.ended, p.total)
	if p.scores.weight > 0 {
		line += fmt.Sprintf("  score %.3f", p.scores.mean())
	}
	if p.noAnswers > 0 {
		line += fmt.Sprintf("  %d without an answer", p.noAnswers)
	}
	if p.errors > 0 {
		line += "  " + display.Plural(p.errors, "error")
	}
	line += "  " + elapsed.Round(time.Second).String()
	if done := p.ended - p.resumed; done > 0 && p.ended < p.total {
		left := elapsed / time.Duration(done) * time.Duration(p.total-p.ended)
		line += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	return line
}
