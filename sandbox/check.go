package sandbox

import (
	"fmt"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/signature/schema"
)

// judge turns what the parse found into the reasons to refuse the program: only
// what must fail when it runs. The worker reports, and the host judges, by the
// same code that validates the arguments of real calls.
//
// It happens in this process, and the program decides how much there is to
// judge. So it ends with the run, and after maxFindings.
func (h *host) judge(r engine.Report) []Finding {
	var findings []Finding
	enough := func() bool { return len(findings) >= maxFindings || h.ctx.Err() != nil }
	for _, f := range r.Findings {
		if enough() {
			break
		}
		findings = append(findings, h.finding(Unsupported, f.Message, f.Hint, f.Pos))
	}
	for _, name := range r.Undeclared {
		if enough() {
			break
		}
		findings = append(findings, h.undeclared(name))
	}
	for _, name := range r.Constants {
		if enough() {
			break
		}
		findings = append(findings, h.finding(Unsupported, name.Name+" cannot be assigned to: it is a tool, an input or an earlier constant", "declare a variable of your own", name.Pos))
	}
	for _, site := range r.Sites {
		if enough() {
			break
		}
		findings = append(findings, h.site(site)...)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return findings
}

// maxFindings is how many reasons to refuse a program are given at once. Whoever
// has mended so many may ask again.
const maxFindings = 20

func (h *host) undeclared(name engine.Name) Finding {
	hint := absent[name.Name]
	near := schema.Nearest(name.Name, h.names())
	switch {
	case hint != "":
	case name.Assigned:
		hint = "declare it with let or const"
	case near != "":
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return h.finding(Undeclared, name.Name+" is not defined", hint, name.Pos)
}

// absent says what to use instead of what other engines have.
var absent = map[string]string{
	"require":         "there are no modules; the declared tools are globals",
	"process":         "there is no process; the program sees only its inputs and tools",
	"fetch":           "there is no network; use the declared tools",
	"XMLHttpRequest":  "there is no network; use the declared tools",
	"Buffer":          "there are no buffers; use strings or Uint8Array",
	"structuredClone": "use JSON.parse(JSON.stringify(value))",
	"queueMicrotask":  "use Promise.resolve().then(f)",
	"Intl":            "format numbers and dates by hand",
	"submit":          "return the value, or end with it as an expression",
	"eval":            "code cannot be made from text here",
}

// names are those that a program may have meant.
func (h *host) names() []string {
	names := []string{"console", "sleep", "setTimeout"}
	if h.program.Submit {
		names = append(names, "submit")
	}
	for _, b := range h.bindings {
		names = append(names, or(b.Object, b.Names[0]))
	}
	for name := range h.program.Inputs {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// site judges one call of a tool.
func (h *host) site(s engine.Site) []Finding {
	if s.Tool < 0 || s.Tool >= len(h.bindings) {
		return []Finding{h.unknownTool(s)}
	}
	if s.Args == nil {
		return nil
	}
	b := h.bindings[s.Tool]
	violations := b.Check(s.Args.JSON, s.Args.Unknown)
	if len(violations) == 0 {
		return nil
	}
	return []Finding{h.finding(InvalidArgument, b.Path()+": "+schema.Summary(violations), "", s.Pos)}
}

func (h *host) unknownTool(s engine.Site) Finding {
	message := fmt.Sprintf("%s has no tool %q", s.Namespace, s.Name)
	hint := ""
	if near := schema.Nearest(s.Name, h.members(s.Namespace)); near != "" {
		hint = fmt.Sprintf("did you mean %s.%s?", s.Namespace, near)
	}
	return h.finding(UnknownTool, message, hint, s.Pos)
}

func (h *host) members(object string) []string {
	var names []string
	for _, b := range h.bindings {
		if b.Object == object {
			names = append(names, b.Names...)
		}
	}
	return names
}
