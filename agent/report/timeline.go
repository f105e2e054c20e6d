package report

import (
	"fmt"
	"math"
	"time"

	"github.com/writ-go/writ/module"
)

// timeline shows when everything happened.
type timeline struct {
	Ticks []tick
	Rows  []row
	More  int // rows that are not shown
}

type tick struct{ X, Text string }

// row is a row of the timeline. Bars that overlap are in different lanes.
type row struct {
	Label, Href, Class string
	Deep               bool
	Height             int
	Bars               []bar
	Note               string
}

type bar struct {
	X, W, Class, Title string
	Y, H               int
}

const (
	maxRows   = 400
	maxHeight = 160
)

// interval is a time from the beginning of the run.
type interval struct {
	from, length time.Duration
	class, title string
}

// timelineOf returns the timeline of a run, or nil if nothing took any time.
func timelineOf(r *run) *timeline {
	t := &timeline{}
	rows := rowsOf(r, earliest(r.trajectory), 0)
	var total time.Duration
	for _, one := range rows {
		for _, i := range one.intervals {
			total = max(total, i.from+i.length)
		}
	}
	if total <= 0 {
		return nil
	}
	for i, one := range rows {
		if i == maxRows {
			t.More = len(rows) - maxRows
			break
		}
		one.draw(total)
		t.Rows = append(t.Rows, one.row)
	}
	for i := range 4 {
		t.Ticks = append(t.Ticks, tick{fmt.Sprintf("%d%%", 25*i), duration(total * time.Duration(i) / 4)})
	}
	return t
}

// timed is a row with its times.
type timed struct {
	row
	intervals []interval
}

// earliest returns when the first of the runs began.
func earliest(t module.Trajectory) time.Time {
	first := t.Began
	for _, within := range t.Runs {
		if began := earliest(within); first.IsZero() || !began.IsZero() && began.Before(first) {
			first = began
		}
	}
	return first
}

// rowsOf returns the rows of a run. If times are not recorded, each step begins when the one before ends.
func rowsOf(r *run, zero time.Time, depth int) (rows []timed) {
	at := func(t time.Time, otherwise time.Duration) time.Duration {
		if t.IsZero() || zero.IsZero() {
			return otherwise
		}
		return max(t.Sub(zero), 0)
	}
	now := at(r.trajectory.Began, 0)
	if depth > 0 {
		rows = append(rows, timed{row{Label: r.Title, Href: r.ID, Class: "within"}, []interval{
			{now, r.trajectory.Duration, "within", r.Title + ", " + duration(r.trajectory.Duration)}}})
	}
	for _, s := range r.Steps {
		now = at(s.of.Began, now)
		if s.Duration > 0 {
			label := s.Model
			if label == "" {
				label = "model"
			}
			rows = append(rows, timed{row{Label: s.Title + " · " + label, Href: s.ID, Deep: depth > 0}, []interval{
				{now, s.Duration, "model", "model call, " + duration(s.Duration)}}})
			now += s.Duration
		}
		if o := s.of.Outcome; o != nil {
			rows = append(rows, programRows(s, now, depth > 0)...)
			now += o.Duration
		}
	}
	for _, within := range r.Runs {
		rows = append(rows, rowsOf(within, zero, depth+1)...)
	}
	return rows
}

// programRows returns the rows of a program and of its calls.
func programRows(s *step, now time.Duration, deep bool) []timed {
	o := s.of.Outcome
	label, class := "program", "program"
	if o.Failure != nil {
		label, class = "program, failed", "bad"
		if !o.Failure.Ran() {
			label = "check, rejected"
		}
	}
	rows := []timed{{row{Label: label, Href: s.ID + "-code", Deep: deep},
		[]interval{{now, o.Duration, class, label + ", " + duration(o.Duration)}}}}
	if len(o.Calls) == 0 {
		return rows
	}
	calls := timed{row: row{Label: fmt.Sprintf("calls · %d", len(o.Calls)), Href: s.ID + "-calls", Deep: deep}}
	for i, c := range sequential(o.Calls) {
		title := ""
		if g := i / groupSize; g < len(s.Groups) && i%groupSize < len(s.Groups[g].Calls) {
			title = s.Groups[g].Calls[i%groupSize].Tool + ", " + duration(c.Duration)
		}
		calls.intervals = append(calls.intervals, interval{now + c.Started, c.Duration, callClass(c), title})
	}
	return append(rows, calls)
}

// draw turns the intervals into bars, in as few lanes as possible. If there are too many lanes, they overlap.
func (r *timed) draw(total time.Duration) {
	var ends []time.Duration
	lanes := make([]int, len(r.intervals))
	for i, one := range r.intervals {
		lane := 0
		for lane < len(ends) && ends[lane] > one.from {
			lane++
		}
		if lane == len(ends) {
			if lane == maxHeight {
				lane = i % maxHeight
			} else {
				ends = append(ends, 0)
			}
		}
		ends[lane], lanes[i] = max(ends[lane], one.from+one.length), lane
	}
	pitch := min(12, max(1, maxHeight/max(len(ends), 1)))
	r.Height = pitch * len(ends)
	for i, one := range r.intervals {
		x, w := bounds(one.from, one.length, total)
		r.Bars = append(r.Bars, bar{X: x, W: w, Class: one.class, Title: one.title,
			Y: lanes[i] * pitch, H: max(1, pitch-pitch/4)})
	}
}

// bounds returns the beginning and the width of a bar as percentages. Every bar is visible.
func bounds(from, length, total time.Duration) (x, w string) {
	if total <= 0 {
		return "0%", "0%"
	}
	const least = 0.3
	a := math.Min(100*float64(from)/float64(total), 100-least)
	z := math.Min(math.Max(100*float64(from+length)/float64(total), a+least), 100)
	return fmt.Sprintf("%.2f%%", a), fmt.Sprintf("%.2f%%", z-a)
}
