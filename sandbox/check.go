package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// judge turns what the parse found into the reasons to refuse the program: only
// what must fail when it runs, and what the rules forbid. The worker reports, and
// the host judges, by the same code that validates the arguments of real calls.
//
// It happens in this process, and the program decides how much there is to
// judge. So it ends with the run, and after maxFindings.
func (h *host) judge(r engine.Report) []Finding {
	j := judgement{host: h}
	judgeEach(&j, r.Findings, func(f engine.Finding) []Finding {
		return one(h.finding(KindUnsupported, f.Message, f.Hint, f.Pos))
	})
	judgeEach(&j, r.Undeclared, func(n engine.Name) []Finding { return one(h.undeclared(n)) })
	judgeEach(&j, r.Early, func(n engine.Name) []Finding { return one(h.early(n)) })
	judgeEach(&j, r.Constants, func(w engine.Write) []Finding { return one(h.constant(w)) })
	judgeEach(&j, r.Sites, h.site)
	judgeEach(&j, r.Forbidden, func(n engine.Name) []Finding { return one(h.forbidden(n)) })
	judgeEach(&j, h.textual(), one)
	judgeEach(&j, h.deep(r), one)
	slices.SortStableFunc(j.findings, inOrder)
	declareOnce(j.findings)
	return j.findings
}

// declareOnce leaves out hints, which show declarations, that an earlier finding has.
func declareOnce(findings []Finding) {
	shown := map[string]bool{}
	for i := range findings {
		if f := &findings[i]; f.Kind == KindInvalidArgument || f.Kind == KindUnknownTool {
			if shown[f.Hint] {
				f.Hint = ""
			}
			shown[f.Hint] = true
		}
	}
}

// judgement is the reasons found so far.
type judgement struct {
	host     *host
	findings []Finding
}

// judgeEach judges one thing after the other, until it is enough.
func judgeEach[T any](j *judgement, things []T, judge func(T) []Finding) {
	for _, thing := range things {
		if len(j.findings) >= maxFindings || j.host.ctx.Err() != nil {
			return
		}
		j.findings = append(j.findings, judge(thing)...)
	}
}

func one(f Finding) []Finding { return []Finding{f} }

// inOrder orders findings as they stand in the source.
func inOrder(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// maxFindings is how many reasons to refuse a program are given at once. Whoever
// has mended so many may ask again.
const maxFindings = 20

func (h *host) undeclared(name engine.Name) Finding {
	hint := absent[name.Name]
	near := schema.Nearest(name.Name, h.names())
	if tool := h.elsewhere(name.Name); tool != nil {
		near = tool.Path()
	}
	switch {
	case name.Name == "tools":
		hint = h.withoutPrefix(name.Line)
	case outside[name.Name] != "":
		hint = h.withTools(outside[name.Name])
	case hint != "":
	case slices.Contains(h.program.Earlier, name.Name) && name.Elsewhere == nil:
		hint = "an earlier program declared it, but every program starts afresh; declare it again"
	case name.Assigned:
		hint = "declare it with let or const"
	case name.Elsewhere != nil && name.Elsewhere.Line > 0:
		hint = fmt.Sprintf("line %d declares it inside a block or function; declare it outside", name.Elsewhere.Line)
	case near != "":
		hint = fmt.Sprintf("did you mean %s?", h.whole(near))
	case h.globals() != "" && isCalled(name.Name, engine.Line(h.program.Source, name.Line)):
		hint = "use the tools: " + h.globals()
	}
	return h.finding(KindUndeclared, name.Name+" is not defined", hint, name.Pos)
}

// isCalled reports whether a line awaits a call of a name or of its member.
func isCalled(name, line string) bool {
	called, err := regexp.MatchString(`\bawait\s+`+regexp.QuoteMeta(name)+`(\.[\w$]+)?\(`, line)
	return err == nil && called
}

// whole is a name, or how the tool is called whose path it is.
func (h *host) whole(name string) string {
	if b := h.byPath(name); b != nil {
		return signature(b)
	}
	return name
}

// byPath finds a tool by its path. It returns nil if no tool has that path.
func (h *host) byPath(path string) *tools.Binding {
	for _, b := range h.bindings {
		if b.Path() == path {
			return b
		}
	}
	return nil
}

var toolsPrefix = regexp.MustCompile(`\btools\.([\w$]+(?:\.[\w$]+)?)`)

// withoutPrefix is the hint for tools.orders.list, where tools has no orders.
func (h *host) withoutPrefix(line int) string {
	m := toolsPrefix.FindStringSubmatch(engine.Line(h.program.Source, line))
	if m == nil || h.byPath(m[1]) == nil {
		return "the tools are globals: " + h.globals()
	}
	return "the tools are globals: write " + m[1]
}

// early words a variable that is read before it is initialized.
func (h *host) early(name engine.Name) Finding {
	message := name.Name + " is used before it is declared"
	if name.Assigned {
		hidden := "the " + h.what(name.Name)
		if hidden == "the "+earlierConstant {
			hidden = "that of an earlier program"
		}
		message += ": the variable hides " + hidden
	}
	hint := "call the variable something else"
	if !name.Assigned && name.Elsewhere != nil && later(*name.Elsewhere, name.Pos) {
		hint = fmt.Sprintf("line %d declares it; move that up", name.Elsewhere.Line)
	}
	return h.finding(KindUnsupported, message, hint, name.Pos)
}

func later(a, b engine.Pos) bool {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) > 0
}

// constant words an assignment to what is not the program's own.
func (h *host) constant(w engine.Write) Finding {
	message, verb := w.Name, "assigned to"
	what := h.what(w.Name)
	if w.Object != "" {
		message, what = w.Object+"."+w.Name, "tool"
		if !slices.Contains(h.members(w.Object), w.Name) {
			what = "member of the tools' object " + w.Object
		}
	}
	if w.Delete {
		verb = "deleted"
	}
	message += fmt.Sprintf(" cannot be %s: it is %s", verb, article(what))
	return h.finding(KindUnsupported, message, "declare a variable of your own", w.Pos)
}

func article(what string) string {
	if what[0] == 'i' || what[0] == 'e' {
		return "an " + what
	}
	return "a " + what
}

const earlierConstant = "earlier constant"

// what is the kind of thing that a name stands for, if not for the program's own.
func (h *host) what(name string) string {
	if slices.Contains(h.inputNames(), name) {
		return "input"
	}
	if len(h.members(name)) > 0 || len(h.members("")) > 0 && slices.Contains(h.members(""), name) {
		return "tool"
	}
	return earlierConstant
}

// names are those that a program may have meant.
func (h *host) names() []string {
	names := []string{"console", "sleep", "setTimeout"}
	if h.program.Submit {
		names = append(names, "submit")
	}
	for _, b := range h.bindings {
		names = append(names, or(b.Object, b.Names[0]), b.Path())
	}
	names = append(names, h.inputNames()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// inputNames are the names of the inputs, the session's among them.
func (h *host) inputNames() []string {
	names := slices.Collect(maps.Keys(h.program.Inputs))
	for _, in := range h.lasting {
		names = append(names, in.Name)
	}
	return names
}

// members are the tools of a namespace, and those that are functions by
// themselves for "".
func (h *host) members(object string) []string {
	var names []string
	for _, b := range h.bindings {
		if b.Object == object {
			names = append(names, b.Names...)
		}
	}
	return names
}
