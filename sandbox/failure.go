package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
)

// fatal returns the error for a run that the host or its caller ended, or nil.
func (h *host) fatal(ctx context.Context, out *Outcome) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case errors.Is(h.aborted, ErrClosed):
		return h.aborted
	case h.aborted != nil && !isProgramError(h.aborted):
		return fmt.Errorf("sandbox: %w", h.aborted)
	case ctx.Err() != nil && out.Failure != nil && out.Failure.Kind == KindStopped:
		return fmt.Errorf("sandbox: %w", canceled(ctx))
	}
	return nil
}

// partial returns the outcome of a run that could not be stopped, with the calls that were
// made, or nil if no call was made.
func (h *host) partial() *Outcome {
	h.mu.Lock()
	calls := len(h.calls)
	h.mu.Unlock()
	if calls == 0 {
		return nil
	}
	f := &engine.Failure{Kind: engine.KindStopped, Message: "the program could not be stopped"}
	return h.outcome(&engine.Result{Failure: f})
}

// unlessAborted returns the engine's result, or a stopped program's result if the host ended the run. The program may
// have submitted before the host could stop it, for example because a call was held. Such a program has not succeeded:
// the call was not made.
func (h *host) unlessAborted(r *engine.Result) *engine.Result {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r == nil || r.Failure != nil || h.aborted == nil {
		return r
	}
	stopped := *r
	stopped.Value, stopped.Submitted = nil, false
	stopped.Failure = engine.Stopped()
	return &stopped
}

// outcome combines the engine's result with what the host recorded.
func (h *host) outcome(r *engine.Result) *Outcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := &Outcome{
		Value: r.Value, Submitted: r.Submitted,
		Stdout: Output(r.Stdout), Stderr: Output(r.Stderr),
		Duration: time.Since(h.start), Computing: r.Computed, Waiting: r.Waited, Declared: h.declared, acts: h.acts,
	}
	for _, c := range h.calls {
		call := c.Call
		if c.Pending {
			if !c.paused {
				out.Abandoned++
			}
			if c.execution != nil && c.execution.Args() != nil {
				call.Args = c.execution.Args()
			}
		}
		out.Calls = append(out.Calls, call)
	}
	if r.Failure != nil {
		out.Failure = h.failure(r.Failure)
	}
	out.Warnings = h.allWarnings(r, out)
	return out
}

// allWarnings returns the warnings from the check and from the run.
func (h *host) allWarnings(r *engine.Result, out *Outcome) []Finding {
	shown := h.explain(out.Failure, slices.Concat(h.strayPromises(r), h.misses(r, out.Calls)))
	warnings := slices.Concat(h.checkWarnings(r), shown)
	if len(r.Lost) > 0 {
		message := "in the answer, " + display.Cut(strings.Join(r.Lost, ", "), maxMessage/4) +
			". JSON has no such value: submit the right one, or null if there is none."
		warnings = append(warnings, h.finding(kindLostValue, message, "", engine.Pos{}))
	}
	slices.SortStableFunc(warnings, inOrder)
	if h.refused > 0 && out.Failure == nil {
		message := fmt.Sprintf("%d tool calls were not made: a program may make %d%s",
			h.refused, h.limits.Calls, h.uncountedCalls())
		hint := "make fewer calls, or print what you have and continue in the next program"
		warnings = append(warnings, h.finding(KindCallLimit, message, hint, engine.Pos{}))
	}
	return append(warnings, h.remark(out.Calls)...)
}

// remark returns the first remark of a tool about a result, as a warning.
func (h *host) remark(calls []Call) []Finding {
	for _, c := range calls {
		b := h.toolByPath(c.Tool)
		if b == nil || c.Error != nil || c.Pending {
			continue
		}
		if text := dispatch.Remark(b, c.Args, c.Result); text != "" {
			return []Finding{h.finding(kindRemark, text, "", engine.Pos{Line: c.Line, Column: c.Column})}
		}
	}
	return nil
}

// checkWarnings returns the warnings of the check. If a limit ended the program, it leaves out the warning that
// the program returns no value.
func (h *host) checkWarnings(r *engine.Result) []Finding {
	warnings := slices.Clone(h.warnings)
	if f := r.Failure; f == nil || f.Kind == engine.KindSyntax || f.Kind == engine.KindRefused || endedByItself(r) {
		return warnings
	}
	return slices.DeleteFunc(warnings, func(w Finding) bool { return w.Kind == kindNoValue })
}

// failure converts a failure of the engine. It returns nil if the program was only checked and has no findings.
func (h *host) failure(f *engine.Failure) *Failure {
	finding := h.finding(Kind(f.Kind), f.Message, f.Hint, f.Pos)
	if h.aborted != nil || f.Kind == engine.KindStopped {
		return h.stopped(finding)
	}
	switch f.Kind {
	case engine.KindSyntax:
		if !h.judged {
			h.findings = h.violations()
		}
		if f.Hint == noModules {
			finding.Hint = h.useTools(noModules)
		}
		findings := append(h.findings, finding)
		slices.SortStableFunc(findings, inOrder)
		return refusal(findings)
	case engine.KindRefused:
		if len(h.findings) > 0 {
			return refusal(h.findings)
		}
		return nil
	case engine.KindUnawaited:
		finding.Message += h.unawaited(f.Calls)
	case engine.KindTimeout:
		finding.Message = fmt.Sprintf("the program ran longer than %v", h.limits.Time)
	}
	if f.Kind == engine.KindThrown && notJSON.MatchString(f.Message) {
		finding.Hint = "the string is text, not one JSON value: read it with split or match"
	}
	finding.Frame += h.caller(f)
	out := &Failure{Finding: finding}
	for _, at := range f.Stack {
		out.Stack = append(out.Stack, fmt.Sprintf("line %d, column %d", at.Line, at.Column))
	}
	if f.Tool != nil {
		out.Kind, out.Tool = KindToolError, h.uncaught(f)
		b := h.toolByPath(f.Tool.Tool)
		if b != nil && f.Tool.Kind == tools.KindInvalidArguments && !strings.Contains(out.Message, signature(b)) {
			out.Hint = declaredAs(b)
		}
	}
	return out
}

// notJSON matches JSON.parse's error for a string that does not begin like JSON, or that has text after a JSON value.
var notJSON = regexp.MustCompile(`^SyntaxError: Unexpected (token '.+', "[^{\["]|.* after JSON at )`)

// caller returns the line that called the function in which the program failed, or "".
func (h *host) caller(f *engine.Failure) string {
	i := slices.IndexFunc(f.Stack, func(at engine.Pos) bool { return at.Line > 0 && at.Line != f.Line })
	if i < 0 || f.Line == 0 {
		return ""
	}
	line := strings.TrimSpace(engine.Line(h.program.Source, f.Stack[i].Line))
	return display.Text(fmt.Sprintf("\ncalled in line %d: %s", f.Stack[i].Line, display.Cut(line, frameWidth)))
}

// stopped returns the failure of a program that the host ended.
func (h *host) stopped(finding Finding) *Failure {
	f := &Failure{Finding: finding}
	switch {
	case !isProgramError(h.aborted):
	case errors.Is(h.aborted, errCallLimit):
		f.Kind = KindCallLimit
		f.Message = fmt.Sprintf("the program may make %d tool calls%s, but made %d more, which were refused",
			h.limits.Calls, h.uncountedCalls(), maxRefused)
		f.Hint = "stop at the first ToolError of kind \"limit\""
	case errors.As(h.aborted, &f.Hold):
		f.Kind, f.Message = KindHeld, f.Hold.Error()
	}
	return f
}

// call returns the recorded call with an ID, or nil if the call was not recorded.
func (h *host) call(id int) *Call {
	i, found := slices.BinarySearchFunc(h.calls, id, func(c *tracker, id int) int { return c.ID - id })
	if !found {
		return nil
	}
	return &h.calls[i].Call
}

// unawaited lists calls that the program did not await, and says what happened to each.
func (h *host) unawaited(ids []int) string {
	var b strings.Builder
	for _, id := range ids[:min(len(ids), maxFindings)] {
		c := h.call(id)
		if c == nil { // the call was over the limit and is not recorded
			continue
		}
		b.WriteString("\n- ")
		if c.Line > 0 {
			fmt.Fprintf(&b, "line %d: ", c.Line)
		}
		b.WriteString(c.Tool + " ")
		if holder := h.holder(engine.Pos{Line: c.Line, Column: c.Column}); holder != "" {
			b.WriteString("(" + holder + ") ")
		}
		switch te := c.Error; {
		case c.Pending:
			b.WriteString("has not been answered")
		case te == nil:
			b.WriteString("was made but answered too late")
		case dispatch.StateOf(te) == dispatch.StateRejected:
			b.WriteString("was not made: " + display.Cut(te.Message, 200))
		default:
			b.WriteString("failed: " + display.Cut(te.Message, 200))
		}
	}
	return b.String()
}

// uncaught returns the error of the call that made the program fail. If the call was recorded, this is the recorded
// error, which has a cause that the engine does not know.
func (h *host) uncaught(f *engine.Failure) *tools.ToolError {
	if c := h.call(f.Call); c != nil && c.Error != nil {
		return c.Error
	}
	return &tools.ToolError{
		Tool: f.Tool.Tool, Kind: f.Tool.Kind, Message: f.Tool.Message, ID: f.Tool.ID, Data: f.Tool.Data,
	}
}

// uncountedCalls says how many calls did not count towards Limits.Calls, for a message.
func (h *host) uncountedCalls() string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(h.uncounted)) {
		list = append(list, fmt.Sprintf("%d of %s", h.uncounted[path], path))
	}
	if list == nil {
		return ""
	}
	return " (not counting " + strings.Join(list, " and ") + ")"
}
