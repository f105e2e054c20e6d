package sandbox

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// clue is a warning about a value that may be why the program failed.
type clue struct {
	Finding
	variable string // that holds the value, if any
}

// explain adds the clue to a failure that its line points at, and returns the other clues
// as warnings.
func (h *host) explain(f *Failure, clues []clue) (warnings []Finding) {
	explained := f == nil || f.Kind != KindThrown || f.Hint != "" || f.Line == 0
	line := ""
	if !explained {
		line = engine.Line(h.program.Source, f.Line)
	}
	for _, c := range clues {
		if !explained && (c.Line == f.Line || mentions(line, c.variable)) {
			explained = true
			switch {
			case c.Hint == "":
				f.Hint = c.Message
			case !strings.Contains(f.Message, c.Hint):
				f.Hint = shorten(c.Message+"; "+c.Hint, maxMessage)
			}
			continue
		}
		if len(warnings) < maxFindings {
			warnings = append(warnings, c.Finding)
		}
	}
	return warnings
}

// mentions reports whether a line has a name in it.
func mentions(line, name string) bool {
	if name == "" {
		return false
	}
	found, err := regexp.MatchString(`(^|[^\w$.])`+regexp.QuoteMeta(name)+`($|[^\w$])`, line)
	return err == nil && found
}

// maxWord is how many bytes a name of the source may have that is shown.
const maxWord = 100

// bounded takes names that are too long to be shown out of what a worker says of call sites.
func bounded(sites []engine.Site) []engine.Site {
	isLong := func(u engine.Use) bool { return len(u.Property) > maxWord }
	for i := range sites {
		s := &sites[i]
		if len(s.Holder) > maxWord {
			s.Holder = ""
		}
		s.Uses = slices.DeleteFunc(s.Uses[:min(len(s.Uses), maxFindings)], isLong)
	}
	return sites
}

// siteAt returns the call that is at a place in the source, or nil.
func (h *host) siteAt(at engine.Pos) *engine.Site {
	i := slices.IndexFunc(h.sites, func(s engine.Site) bool { return s.Pos == at })
	if i < 0 || at.Line == 0 {
		return nil
	}
	return &h.sites[i]
}

// promises words what the run has shown of promises that the program did not await. Of a
// call that the check has warned of, it says nothing more.
func (h *host) promises(r *engine.Result) (clues []clue) {
	known := map[engine.Pos]bool{}
	for _, w := range h.warnings {
		if w.Kind == KindNotAwaited {
			known[engine.Pos{Line: w.Line, Column: w.Column}] = true
		}
	}
	for _, s := range r.Strays[:min(len(r.Strays), 2*maxFindings)] {
		if s.Call.Line > 0 && known[s.Call] || s.Tool >= len(h.bindings) {
			continue
		}
		known[s.Call] = true
		site := h.siteAt(s.Call)
		if s.Use != engine.Dropped {
			clues = append(clues, h.misused(s, site))
			continue
		}
		// A program that has failed may have been about to await what it holds.
		later := r.Failure != nil && site != nil && site.Holder != "" && site.Property == ""
		if s.Tool >= 0 && !later {
			clues = append(clues, h.lost(s, site))
		}
	}
	return clues
}

// lost words calls that nothing has awaited.
func (h *host) lost(s engine.Stray, site *engine.Site) clue {
	call := h.path(s.Tool) + "(…)"
	message, hint, variable := "nothing awaits "+call+": its result is lost", "write await before it", ""
	switch {
	case s.Calls > 1:
		message = fmt.Sprintf("nothing awaits %d calls of %s: their results are lost", s.Calls, call)
		hint = "write await Promise.all(list.map(…)), or await each call in a for…of loop"
	case site != nil && site.Holder != "":
		variable = site.Holder
		message = fmt.Sprintf("%s is a promise that nothing awaits", variable)
		hint = "write await " + call
	}
	return clue{h.finding(KindNotAwaited, message, hint, s.Pos), variable}
}

// misused words a promise that was used as if it were its result.
func (h *host) misused(s engine.Stray, site *engine.Site) clue {
	promise, hint, variable := "a promise", "await it first, several by Promise.all", ""
	if s.Tool >= 0 {
		call := h.path(s.Tool) + "(…)"
		promise = "the promise of " + call
		if site != nil && site.Holder != "" {
			variable = site.Holder
			promise = "the promise " + variable
		}
		if !s.Awaited {
			hint = fmt.Sprintf("on line %d, write await %s", s.Call.Line, call)
		}
	}
	how := "printed"
	switch s.Use {
	case engine.Converted:
		how = "used as text or as a number"
	case engine.Written:
		how = "written as JSON"
	}
	return clue{h.finding(KindNotAwaited, promise+" is "+how+", not its result", hint, s.Pos), variable}
}
