package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
)

// fatal returns the error that ended the run, if it is none of the program's.
func (h *host) fatal(ctx context.Context, out *Outcome) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.aborted != nil && !mendable(h.aborted):
		return fmt.Errorf("sandbox: %w", h.aborted)
	case ctx.Err() != nil && out.Failure != nil && out.Failure.Kind == KindStopped:
		return fmt.Errorf("sandbox: %w", cancelled(ctx))
	}
	return nil
}

// done is the outcome of a run that could not be brought to an end: the calls
// that were made, or nil if there were none.
func (h *host) done() *Outcome {
	h.mu.Lock()
	calls := len(h.calls)
	h.mu.Unlock()
	if calls == 0 {
		return nil
	}
	return h.outcome(&engine.Result{Failure: &engine.Failure{Kind: engine.Stopped, Message: "the program could not be stopped"}})
}

// overruled is the result of a program that the host has ended. One may have been
// faster, and submitted after the call for which it was: which of them comes first is
// chance, and what a held call was to do has not been done.
func (h *host) overruled(r *engine.Result) *engine.Result {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r == nil || r.Failure != nil || h.aborted == nil {
		return r
	}
	ended := *r
	ended.Value, ended.Submitted = nil, false
	ended.Failure = &engine.Failure{Kind: engine.Stopped, Message: "the program was stopped"}
	return &ended
}

// outcome puts together what the engine says and what the host knows.
func (h *host) outcome(r *engine.Result) *Outcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := &Outcome{
		Value: r.Value, Submitted: r.Submitted,
		Stdout: Output(r.Stdout), Stderr: Output(r.Stderr),
		Duration: time.Since(h.start), Computing: r.Computed, Waiting: r.Waited, Declared: h.declared,
	}
	for _, c := range h.calls {
		call := *c
		if c.Pending {
			out.Abandoned++
			if performed := h.issued[c].Args(); performed != nil {
				call.Args = performed
			}
		}
		out.Calls = append(out.Calls, call)
	}
	if r.Failure != nil {
		out.Failure = h.failure(r.Failure)
	}
	clues := h.explain(out.Failure, slices.Concat(h.promises(r), h.mistaken(out.Calls)))
	if len(clues) == 0 {
		clues = h.firstPages(out.Calls)
	}
	out.Warnings = slices.Concat(h.unlisted(r.Failure), clues)
	slices.SortStableFunc(out.Warnings, inOrder)
	out.Warnings = slices.Concat(out.Warnings, h.beyondLimit(out), h.nothingFound(out.Calls))
	return out
}

// beyondLimit is a warning about calls that were not made, in a program that went on
// without them.
func (h *host) beyondLimit(out *Outcome) []Finding {
	if h.refused == 0 || out.Failure != nil {
		return nil
	}
	message := fmt.Sprintf("%d tool calls were not made: a program may make %d%s", h.refused, h.limits.Calls, h.besides())
	return one(h.finding(KindCallLimit, message, "make fewer, or print what is known and go on in the next program", engine.Pos{}))
}

// failure words an engine's failure.
func (h *host) failure(f *engine.Failure) *Failure {
	finding := h.finding(Kind(f.Kind), f.Message, f.Hint, f.Pos)
	if h.aborted != nil { // whatever it died of then
		return h.stopped(finding)
	}
	switch f.Kind {
	case engine.Syntax:
		if !h.judged {
			h.findings = h.textual()
		}
		if f.Hint == noModules {
			finding.Hint = h.withTools(noModules)
		}
		findings := append(h.findings, finding)
		slices.SortStableFunc(findings, inOrder)
		return refusal(findings)
	case engine.Refused:
		if len(h.findings) > 0 {
			return refusal(h.findings)
		}
		return nil // a check of a program that is all right
	case engine.Stopped:
		return h.stopped(finding)
	case engine.Unawaited:
		finding.Message += h.unawaited(f.Calls)
	case engine.Timeout:
		finding.Message = fmt.Sprintf("the program ran longer than %v", h.timeLimit())
	}
	out := &Failure{Finding: finding}
	for _, at := range f.Stack {
		out.Stack = append(out.Stack, fmt.Sprintf("line %d, column %d", at.Line, at.Column))
	}
	if f.Tool != nil {
		out.Kind = KindToolError
		out.Tool = h.thrownBy(f)
		if b := h.byPath(f.Tool.Tool); b != nil && f.Tool.Kind == tools.KindInvalidArguments && !strings.Contains(out.Message, signature(b)) {
			out.Hint = declared(b)
		}
	}
	return out
}

// call returns the record of a call, or nil if the call was not recorded.
func (h *host) call(id int) *Call {
	i, found := slices.BinarySearchFunc(h.calls, id, func(c *Call, id int) int { return c.ID - id })
	if !found {
		return nil
	}
	return h.calls[i]
}

// unawaited says of calls that nobody awaited what became of them.
func (h *host) unawaited(ids []int) string {
	var b strings.Builder
	for _, id := range ids[:min(len(ids), maxFindings)] {
		c := h.call(id)
		if c == nil { // beyond the limit
			continue
		}
		b.WriteString("\n- ")
		if c.Line > 0 {
			fmt.Fprintf(&b, "line %d: ", c.Line)
		}
		b.WriteString(c.Tool + " ")
		if site := h.siteAt(engine.Pos{Line: c.Line, Column: c.Column}); site != nil && site.Holder != "" {
			b.WriteString("(" + site.Holder + ") ")
		}
		switch te := c.Error; {
		case c.Pending:
			b.WriteString("has not been answered")
		case te == nil:
			b.WriteString("was made, and answered too late")
		case tools.StateOf(te) == tools.StateRejected:
			b.WriteString("was not made: " + shorten(te.Message, 200))
		default:
			b.WriteString("failed: " + shorten(te.Message, 200))
		}
	}
	return b.String()
}

// unlisted are the warnings of the check, without those of calls that the failure lists
// as not awaited.
func (h *host) unlisted(f *engine.Failure) []Finding {
	if f == nil || f.Kind != engine.Unawaited {
		return h.warnings
	}
	listed := func(w Finding) bool {
		return w.Kind == KindNotAwaited && slices.ContainsFunc(f.Calls, func(id int) bool {
			c := h.call(id)
			return c != nil && c.Line == w.Line && c.Column == w.Column
		})
	}
	return slices.DeleteFunc(slices.Clone(h.warnings), listed)
}

// thrownBy returns the error of a call as the host has it, with its cause.
func (h *host) thrownBy(f *engine.Failure) *tools.ToolError {
	if c := h.call(f.Call); c != nil && c.Error != nil {
		return c.Error
	}
	return &tools.ToolError{Tool: f.Tool.Tool, Kind: f.Tool.Kind, Message: f.Tool.Message, Data: f.Tool.Data}
}

// stopped says why the host ended the program.
func (h *host) stopped(finding Finding) *Failure {
	f := &Failure{Finding: finding}
	switch {
	case !mendable(h.aborted):
	case errors.Is(h.aborted, errCallLimit):
		f.Kind = KindCallLimit
		f.Message = fmt.Sprintf("the program may make %d tool calls%s, and went on after %d more were refused",
			h.limits.Calls, h.besides(), maxRefused)
		f.Hint = "stop at the first ToolError of kind \"limit\""
	case errors.As(h.aborted, &f.Hold):
		f.Kind, f.Message = KindHeld, f.Hold.Error()
	}
	return f
}

// besides says which calls did not count.
func (h *host) besides() string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(h.uncounted)) {
		list = append(list, fmt.Sprintf("%d of %s", h.uncounted[path], path))
	}
	if list == nil {
		return ""
	}
	return ", besides " + strings.Join(list, " and ") + " that do not count"
}

func (h *host) timeLimit() time.Duration {
	if h.program.Timeout > 0 {
		return min(h.program.Timeout, h.limits.Time)
	}
	return h.limits.Time
}

func (h *host) finding(kind Kind, message, hint string, at engine.Pos) Finding {
	return Finding{
		Kind: kind, Message: shorten(message, maxMessage), Hint: shorten(hint, maxMessage),
		Line: at.Line, Column: at.Column, Frame: frame(h.program.Source, at.Line, at.Column),
	}
}

// maxMessage is how many bytes of a message there may be: programs can make names
// and values of any length, and models are charged for reading about them.
const maxMessage = 2000

func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
