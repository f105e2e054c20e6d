package report

import (
	"fmt"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox"
)

// timeline shows when everything happened. Ticks are at every quarter.
type timeline struct {
	Ticks []string
	Rows  []row
	More  int // rows that are not shown
}

// row is a row of the timeline. Bars that overlap are in different lanes.
type row struct {
	Label, Href, Class string
	Height             int
	Bars               []bar
}

type bar struct {
	from, length       time.Duration // since the beginning
	Class, Title, X, W string
	Y, H               int
}

const (
	maxRows  = 400
	maxLanes = 160 // more lanes overlap; also the height of a row in pixels
)

// timelineOf returns the timeline of a run, or nil if nothing took any time.
func timelineOf(r *run) *timeline {
	zero := r.Began
	if zero.IsZero() && len(r.Runs) > 0 { // a group of runs
		zero = r.Runs[0].Began
	}
	t := &timeline{Rows: rowsOf(r, zero, 0)}
	var total time.Duration
	for _, one := range t.Rows {
		for _, x := range one.Bars {
			total = max(total, x.from+x.length)
		}
	}
	if total <= 0 {
		return nil
	}
	t.Rows, t.More = first(t.Rows, maxRows)
	for i := range t.Rows {
		t.Rows[i].draw(total)
	}
	for i := range time.Duration(4) {
		t.Ticks = append(t.Ticks, duration(total*i/4))
	}
	return t
}

// rowsOf returns the rows of a run. Without recorded times, each step begins when the one before ends.
func rowsOf(r *run, zero time.Time, depth int) (rows []row) {
	now := time.Duration(0)
	at := func(t time.Time) {
		if !t.IsZero() && !zero.IsZero() {
			now = max(t.Sub(zero), 0)
		}
	}
	add := func(label, href, class string, length time.Duration) {
		rows = append(rows, row{Label: label, Href: href, Class: class,
			Bars: []bar{{from: now, length: length, Class: class, Title: label + ", " + duration(length)}}})
	}
	at(r.Began)
	if depth > 0 {
		add(r.Title, r.ID, "within", r.Duration)
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		at(s.Began)
		if s.Duration > 0 {
			add(fmt.Sprintf("Step %d · model", s.Number), s.ID, "model", s.Duration)
			now += s.Duration
		}
		o := &s.Outcome
		switch {
		case s.Step.Outcome == nil:
			continue
		case o.Failure == nil:
			add("program", s.ID, "program", o.Duration)
		case o.Failure.Kind == sandbox.KindStopped:
			add("program, not finished", s.ID, "program", o.Duration)
		case o.Failure.Ran():
			add("program, failed", s.ID, "bad", o.Duration)
		default:
			add("check, rejected", s.ID, "bad", o.Duration)
		}
		calls := row{Label: display.Plural(len(o.Calls), "call"), Href: s.ID + "-calls"}
		for _, c := range o.Calls {
			class, _ := describe(c)
			calls.Bars = append(calls.Bars, bar{from: now + c.Started, length: c.Duration, Class: class,
				Title: display.Cut(c.Tool, maxSecret) + ", " + duration(c.Duration)})
		}
		if len(o.Calls) > 0 {
			rows = append(rows, calls)
		}
		now += o.Duration
	}
	for i := range r.Runs {
		rows = append(rows, rowsOf(&r.Runs[i], zero, depth+1)...)
	}
	return rows
}

// draw places the bars in as few lanes as possible.
func (r *row) draw(total time.Duration) {
	var ends []time.Duration
	for i := range r.Bars {
		x := &r.Bars[i]
		for x.Y < len(ends) && ends[x.Y] > x.from {
			x.Y++
		}
		if x.Y == maxLanes {
			x.Y = i % maxLanes
		} else if x.Y == len(ends) {
			ends = append(ends, 0)
		}
		ends[x.Y] = max(ends[x.Y], x.from+x.length)
	}
	pitch := min(12, max(1, maxLanes/len(ends)))
	r.Height = pitch * len(ends)
	for i := range r.Bars {
		x := &r.Bars[i]
		x.Y, x.H = x.Y*pitch, max(1, pitch-pitch/4)
		x.X, x.W = bounds(x.from, x.length, total)
	}
}

// bounds returns the beginning and the width of a bar as percentages. Every bar is visible.
func bounds(from, length, total time.Duration) (x, w string) {
	const least = 0.3
	all := float64(max(total, 1))
	a := min(100*float64(from)/all, 100-least)
	return percent(a), percent(min(max(100*float64(length)/all, least), 100-a))
}

func percent(p float64) string { return fmt.Sprintf("%.2f%%", p) }
