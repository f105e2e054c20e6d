package sandbox

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// clue is a warning about a value that may be the reason why the program failed.
type clue struct {
	Finding
	name string // the variable or member that the warning is about, or ""
}

// explain adds the first clue about the failing line to the failure, and returns the remaining clues as warnings.
func (h *host) explain(f *Failure, clues []clue) (warnings []Finding) {
	explained := f == nil || f.Kind != KindThrown || f.Hint != "" || f.Line == 0
	line := ""
	if !explained {
		line = engine.Line(h.program.Source, f.Line)
	}
	for _, c := range clues {
		if !explained && (c.Line == f.Line || c.name != "" && mentions(line, c.name)) {
			explained = true
			switch {
			case c.Hint == "":
				f.Hint = c.Message
			case !strings.Contains(f.Message, c.Hint):
				f.Hint = display.Cut(c.Message+"; "+c.Hint, maxMessage)
			}
			continue
		}
		if len(warnings) < maxFindings {
			warnings = append(warnings, c.Finding)
		}
	}
	return warnings
}

// mentions reports whether a name occurs in a line. Member names do not count.
func mentions(text, name string) bool {
	found, err := regexp.MatchString(`(^|[^\w$.])`+regexp.QuoteMeta(name)+`($|[^\w$])`, text)
	return err == nil && found
}

// assigned matches a line in which a call's promise or result is assigned to a variable. A zero byte marks the call's
// position.
var assigned = regexp.MustCompile(`([\w$]{1,100})\s*=\s*(?:await\s+)?(?:[\w$]+\.)?\x00[\w$]+\((?:[^)]|\)+[^.[)])*\)*$`)

// holder returns the name of the variable to which the promise or result of the call at a position is assigned, or "".
func (h *host) holder(at engine.Pos) string {
	line := utf16.Encode([]rune(engine.Line(h.program.Source, at.Line)))
	column := max(0, min(at.Column-1, len(line)))
	m := assigned.FindStringSubmatch(string(utf16.Decode(line[:column])) + "\x00" + string(utf16.Decode(line[column:])))
	if m == nil {
		return ""
	}
	return m[1]
}

// strayPromises returns clues about promises that the program did not await.
func (h *host) strayPromises(r *engine.Result) (clues []clue) {
	misused := map[engine.Pos]bool{}
	for _, s := range r.PromiseMisuses[:min(len(r.PromiseMisuses), 2*maxFindings)] {
		if s.Call.Line > 0 && misused[s.Call] || s.Tool >= len(h.bindings) {
			continue
		}
		misused[s.Call] = true
		holder := h.holder(s.Call)
		if s.Use != engine.Dropped {
			clues = append(clues, h.misusedPromise(s, holder))
			continue
		}
		// A program that failed may have been about to await the promise in the variable.
		later := r.Failure != nil && holder != ""
		if s.Tool >= 0 && !later {
			clues = append(clues, h.droppedPromise(s, holder))
		}
	}
	return clues
}

// droppedPromise describes calls that nothing awaits. variable is the name of the variable that holds the promise, or
// "".
func (h *host) droppedPromise(s engine.PromiseMisuse, variable string) clue {
	call := h.callText(s.Tool)
	message, hint := fmt.Sprintf("nothing awaits %s: %s", call, h.unused(s.Call, 1)), "write await before it"
	switch {
	case s.Calls > 1:
		message = fmt.Sprintf("nothing awaits %d calls of %s: %s", s.Calls, call, h.unused(s.Call, s.Calls))
		hint = "write await Promise.all(list.map(…)), or await each call in a for…of loop"
		variable = ""
	case variable != "":
		message = fmt.Sprintf("%s is a promise that nothing awaits: %s", variable, h.unused(s.Call, 1))
		hint = "write await " + call
	}
	return clue{h.finding(kindNotAwaited, message, hint, s.Pos), variable}
}

// unused says that the program does not use the results of the calls at a position. It also says if the calls were
// made, so that the model does not repeat them.
func (h *host) unused(at engine.Pos, calls int) string {
	made := slices.ContainsFunc(h.calls, func(c *tracker) bool {
		return c.Line == at.Line && c.Column == at.Column &&
			(c.Error == nil || dispatch.StateOf(c.Error) != dispatch.StateRejected)
	})
	switch {
	case made && calls > 1:
		return "the calls were made, but their results were not used"
	case made:
		return "the call was made, but its result was not used"
	case calls > 1:
		return "their results are not used"
	}
	return "its result is not used"
}

// misusedPromise describes a promise that was used as if it were its result.
func (h *host) misusedPromise(s engine.PromiseMisuse, variable string) clue {
	promise, hint := "a promise", "await it first; await several with Promise.all"
	if s.Tool >= 0 {
		call := h.callText(s.Tool)
		promise = "the promise " + cmp.Or(variable, "of "+call)
		if !s.Awaited {
			hint = fmt.Sprintf("on line %d, write await %s", s.Call.Line, call)
		}
	} else {
		variable = ""
	}
	how := "printed"
	switch s.Use {
	case engine.Converted:
		how = "used as text or as a number"
	case engine.Written:
		how = "written as JSON"
	case engine.Read:
		how = "read"
	}
	return clue{h.finding(kindNotAwaited, promise+" is "+how+", not its result", hint, s.Pos), variable}
}
