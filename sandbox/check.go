package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// CheckResult is the result of checking a program.
type CheckResult struct {
	// Findings are the reasons why Run would reject the program, in source order. If Findings is empty, Run would run
	// the program.
	Findings []Finding

	// Warnings are about code that may run without an error but probably does not do what
	// its author intended.
	Warnings []Finding

	// Acts reports whether the program could be parsed and contains a call or a declaration.
	// Prose contains neither.
	Acts bool
}

// checkResult converts the outcome of a run that only checked the program to a CheckResult.
func checkResult(out *Outcome, err error) (CheckResult, error) {
	if err != nil {
		return CheckResult{}, err
	}
	result := CheckResult{Warnings: out.Warnings, Acts: out.acts}
	switch f := out.Failure; {
	case f == nil:
	case f.Ran(): // parsing alone exceeded a limit
		result.Findings = []Finding{f.Finding}
	default:
		result.Findings = f.Findings
	}
	return result, nil
}

// maxFindings is the maximum number of findings in one check.
const maxFindings = 20

// judge returns the reasons to reject the program, given the worker's report: code that is certain to fail, and
// violations of the rules. The code that validates real calls' arguments also validates the arguments in the report.
//
// A hostile program can make the report very large, so judge stops when the run ends or when it has maxFindings
// findings.
func (h *host) judge(r engine.Report) []Finding {
	var list []Finding
	judgeEach(h, &list, r.Findings, func(f engine.Finding) Finding {
		return h.finding(kindUnsupported, f.Message, f.Hint, f.Pos)
	})
	judgeEach(h, &list, r.Undeclared, h.undeclared)
	judgeEach(h, &list, r.EarlyReads, h.usedEarly)
	judgeEach(h, &list, r.Constants, h.constant)
	h.dropHandled(r.Sites)
	judgeEach(h, &list, r.Sites, h.site)
	judgeEach(h, &list, r.Forbidden, h.forbidden)
	violations := h.violations()
	list = append(list, violations[:min(len(violations), maxFindings-len(list))]...)
	slices.SortStableFunc(list, inOrder)
	removeRepeatedHints(list)
	return list
}

// judgeEach judges each of the things and appends the findings that are not empty to list.
func judgeEach[T any](h *host, list *[]Finding, things []T, judge func(T) Finding) {
	for _, thing := range things {
		if len(*list) >= maxFindings || h.ctx.Err() != nil {
			return
		}
		if f := judge(thing); f.Kind != "" {
			*list = append(*list, f)
		}
	}
}

// removeRepeatedHints removes the hint of a finding, which declares a tool, if an earlier finding has the same hint.
func removeRepeatedHints(findings []Finding) {
	shown := map[string]bool{}
	for i := range findings {
		if f := &findings[i]; f.Kind == kindInvalidArgument || f.Kind == kindUnknownTool {
			if shown[f.Hint] {
				f.Hint = ""
			}
			shown[f.Hint] = true
		}
	}
}

// inOrder compares the positions of findings.
func inOrder(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

func (h *host) undeclared(name engine.Name) Finding {
	return h.finding(kindUndeclared, name.Name+" is not defined", h.undeclaredHint(name), name.Pos)
}

// usedEarly reports a variable that is read before it is initialized.
func (h *host) usedEarly(name engine.Name) Finding {
	message := name.Name + " is used before it is declared"
	if name.Assigned {
		hidden := "the " + h.constantKind(name.Name)
		if hidden == "the "+earlierConstant {
			hidden = "a declaration of an earlier program"
		}
		message += ": the variable hides " + hidden
	}
	hint := "choose another name for the variable"
	if e := name.Elsewhere; !name.Assigned && e != nil && cmp.Or(e.Line-name.Line, e.Column-name.Column) > 0 {
		hint = fmt.Sprintf("line %d declares it; move the declaration up", e.Line)
	}
	return h.finding(kindUnsupported, message, hint, name.Pos)
}

// constant reports an assignment to an input, a tool or an earlier program's constant.
func (h *host) constant(w engine.Write) Finding {
	message, verb := w.Name, "assigned to"
	what := h.constantKind(w.Name)
	if w.Object != "" {
		message, what = w.Object+"."+w.Name, "tool"
		if !slices.Contains(h.members(w.Object), w.Name) {
			what = "member of the tools' object " + w.Object
		}
	}
	if w.Delete {
		verb = "deleted"
	}
	article := "a"
	if strings.ContainsAny(what[:1], "ie") {
		article = "an"
	}
	message += fmt.Sprintf(" cannot be %s: it is %s %s", verb, article, what)
	return h.finding(kindUnsupported, message, "declare another variable", w.Pos)
}

const earlierConstant = "earlier constant"

// constantKind returns which kind of constant a global name denotes.
func (h *host) constantKind(name string) string {
	switch {
	case slices.Contains(h.inputNames(), name):
		return "input"
	case len(h.members(name)) > 0 || slices.Contains(h.members(""), name):
		return "tool"
	}
	return earlierConstant
}

// dropHandled drops the arguments of each call whose error the program handles before it can change data. Then judge
// does not reject the call.
func (h *host) dropHandled(sites []engine.Site) {
	change := math.MaxInt // the first statement that can change data
	for _, s := range sites {
		if s.Tool >= 0 && s.Tool < len(h.bindings) && h.bindings[s.Tool].ReplayClass() != tools.Read {
			change = min(change, s.Statement)
		}
	}
	for i, s := range sites {
		if 0 < s.Until && s.Until < change {
			sites[i].Args = nil
		}
	}
}

// site judges one tool call in the source.
func (h *host) site(s engine.Site) Finding {
	switch {
	case s.Tool < 0 || s.Tool >= len(h.bindings):
		return h.unknownTool(s)
	case s.Args == nil:
		return Finding{}
	}
	b := h.bindings[s.Tool]
	args := dispatch.Named(b, s.Args.JSON)
	if !bytes.HasPrefix(args, []byte("{")) {
		what := valueText(args)
		if slices.Contains(s.Args.Unknown, "") { // an unknown string
			what = "a string"
		}
		message := fmt.Sprintf("%s: a tool takes one object, not %s", b.Path(), what)
		return h.finding(kindInvalidArgument, message, declaredAs(b), s.Pos)
	}
	if time.Since(h.start) > h.limits.Time {
		return Finding{} // checking thousands of calls against a slow schema must not exceed the time limit
	}
	violations := b.Check(args, s.Args.Unknown)
	if len(violations) == 0 {
		return Finding{}
	}
	return h.finding(kindInvalidArgument, b.Path()+": "+schema.Summary(violations), declaredAs(b), s.Pos)
}

// unknownTool reports a call that does not lead to a tool: of a namespace, of a member that a namespace does not have,
// or of a member of a tool.
func (h *host) unknownTool(s engine.Site) Finding {
	if s.Name == "" {
		message := fmt.Sprintf("%s is not a function: it holds tools", s.Namespace)
		return h.finding(kindUnknownTool, message, "call one of them: "+h.memberList(s.Namespace), s.Pos)
	}
	members := h.members(s.Namespace)
	switch {
	case len(members) == 0:
		return h.memberOfTool("", s.Namespace, s.Name, s.Pos)
	case s.Member != "" && slices.Contains(members, s.Name):
		member, _, _ := strings.Cut(s.Member, ".")
		return h.memberOfTool(s.Namespace, s.Name, member, s.Pos)
	}
	message := fmt.Sprintf("%s has no tool %q", s.Namespace, s.Name)
	return h.finding(kindUnknownTool, message, h.unknownToolHint(s, members), s.Pos)
}

// memberOfTool reports a call such as search.query({}) if search is a tool.
func (h *host) memberOfTool(object, name, member string, at engine.Pos) Finding {
	if b := h.tool(object, name); b != nil {
		message := fmt.Sprintf("%s is a tool, not an object: it has no member %q", b.Path(), member)
		return h.finding(kindUnknownTool, message, declaredAs(b), at)
	}
	return h.finding(kindUnknownTool, fmt.Sprintf("%s has no member %q", name, member), "", at) // forged report
}

func (h *host) callText(tool int) string { return h.path(tool) + "(…)" }

// valueText describes an argument that is not an object.
func valueText(args json.RawMessage) string {
	if bytes.HasPrefix(args, []byte("[")) {
		return "an array"
	}
	return display.Cut(string(args), 40)
}

// declaredAs is the hint for a call with arguments that the tool does not take.
func declaredAs(b *tools.Binding) string { return "it is declared as " + signature(b) }

// warn returns warnings, given the worker's report.
func (h *host) warn(r engine.Report) []Finding {
	var list []Finding
	judgeEach(h, &list, r.Warnings, func(f engine.Finding) Finding {
		return h.finding(kindNotAwaited, f.Message, f.Hint, f.Pos)
	})
	if r.NoValue && len(list) < maxFindings {
		hint := "end with an expression, or return"
		list = append(list, h.finding(kindNoValue, "the program returns no value", hint, engine.Pos{}))
	}
	slices.SortStableFunc(list, inOrder)
	return list
}
