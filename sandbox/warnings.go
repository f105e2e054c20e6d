package sandbox

import (
	"fmt"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Kinds of warnings. A finding is NotAwaited where the promise certainly makes the program
// fail, and a warning is InvalidArgument for an argument that may turn out to be undefined.
const (
	KindNotAwaited Kind = "not_awaited" // a promise that the program does not wait for
	KindWrongType  Kind = "wrong_type"  // a result that is used as what it is not: text as an object, or an object as JSON text
	KindMorePages  Kind = "more_pages"  // a result says how to get the next page, and the program does not read that
	KindNoValue    Kind = "no_value"    // nothing says what the program's value is
)

// CheckResult is what a check says of a program.
type CheckResult struct {
	// Findings are the reasons for which Run would refuse it, all at once, as they
	// stand in the source. If there are none, it would be run.
	Findings []Finding

	// Warnings are what need not fail, but hardly does what its author means.
	Warnings []Finding
}

// warn turns what the parse found into warnings.
func (h *host) warn(r engine.Report) []Finding {
	var list []Finding
	add := func(kind Kind, message, hint string, at engine.Pos) {
		if len(list) < maxFindings {
			list = append(list, h.finding(kind, message, hint, at))
		}
	}
	for _, f := range r.Smells {
		add(KindNotAwaited, f.Message, f.Hint, f.Pos)
	}
	for _, s := range r.Sites {
		if s.Tool < 0 || s.Tool >= len(h.bindings) {
			continue
		}
		call := h.path(s.Tool) + "(…)"
		switch {
		case s.Fails: // it is refused
		case s.Discarded:
			add(KindNotAwaited, fmt.Sprintf("nothing awaits %s: its result is lost", call), "write await before it", s.Pos)
		case s.Property != "" && s.Holder != "":
			add(KindNotAwaited, fmt.Sprintf("%s is a promise: await %s before reading %s", s.Holder, call, s.Property), "write await before it", s.Pos)
		case s.Property != "":
			message := fmt.Sprintf("%s is a promise: await it before reading %s", call, s.Property)
			add(KindNotAwaited, message, fmt.Sprintf("write (await %s)", call), s.Pos)
		}
	}
	if r.NoValue {
		add(KindNoValue, "the program gives no value", "end with an expression, or return", engine.Pos{})
	}
	slices.SortStableFunc(list, inOrder)
	return list
}
