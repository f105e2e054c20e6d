package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

const (
	noModules  = "there are no modules"
	noNetwork  = "there is no network"
	noBrowser  = "there is no browser; the program sees only its inputs and tools"
	noBytes    = "there are no encoders; use strings, encodeURIComponent or btoa"
	noWeak     = "use Map or Set; the memory is released when the program ends"
	noCancel   = "calls cannot be canceled; wait for the call to end, or do not make it"
	noQuestion = "the user cannot be asked; the program sees only its inputs and tools"
	noStorage  = "there is no storage; keep values in variables"
	giveValue  = "return the value, or end with it as an expression"
	javaScript = "the program must be JavaScript: write "
)

// externals are the globals through which other JavaScript programs reach the outside world, with the reason why each
// of them is missing. In the sandbox, programs use tools instead.
var externals = map[string]string{
	"require": noModules, "fs": "there is no file system", "process": "there is no process",
	"fetch": noNetwork, "XMLHttpRequest": noNetwork, "WebSocket": noNetwork, "axios": noNetwork,
}

// replacements are globals of other engines and languages, with what a program must write instead.
var replacements = map[string]string{
	"module": noModules + "; " + giveValue, "exports": noModules + "; " + giveValue, "submit": giveValue,

	"global": "it is globalThis; the declared tools are globals",
	"window": noBrowser, "document": noBrowser, "navigator": noBrowser, "location": noBrowser, "self": noBrowser,
	"localStorage": noStorage, "sessionStorage": noStorage,
	"alert": "use console.log", "prompt": noQuestion, "confirm": noQuestion,

	"URL":         "parse the text with split or a regular expression, and use URLSearchParams for the query",
	"TextEncoder": noBytes, "TextDecoder": noBytes, "Blob": noBytes, "FormData": noBytes,
	"Buffer":          "there are no buffers; use strings, btoa and atob, or Uint8Array",
	"AbortController": noCancel, "AbortSignal": noCancel,
	"setImmediate": "use setTimeout(f, 0), or await sleep(0)", "clearImmediate": "use clearTimeout",
	"performance": "use Date.now()", "Temporal": "use Date", "Intl": "format numbers and dates by hand",
	"WeakRef": noWeak, "FinalizationRegistry": noWeak,
	"Iterator": "use an array, or a generator function",
	"eval":     "code cannot be created from strings",

	"print": javaScript + "console.log", "len": javaScript + "list.length", "str": javaScript + "String(value)",
	"range": javaScript + "for (let i = 0; i < n; i++)", "dict": javaScript + "{}",
	"None": javaScript + "null", "nil": javaScript + "null", "True": javaScript + "true", "False": javaScript + "false",
}

// undeclaredHint says what to write instead of an undeclared name.
func (h *host) undeclaredHint(name engine.Name) string {
	near := similar.Nearest(name.Name, h.names())
	if tool := h.toolElsewhere(name.Name); tool != nil {
		near = tool.Path()
	}
	switch {
	case name.Name == globals.Tools:
		return h.withoutPrefix(name.Line)
	case externals[name.Name] != "":
		return h.useTools(externals[name.Name])
	case replacements[name.Name] != "":
		return replacements[name.Name]
	case slices.Contains(h.program.Earlier, name.Name) && name.Elsewhere == nil:
		return "an earlier program declared it, but programs do not share variables; declare it again"
	case name.Assigned:
		return "declare it with let or const"
	case name.Elsewhere != nil && name.Elsewhere.Line > 0:
		return fmt.Sprintf("line %d declares it inside a block or function; declare it outside", name.Elsewhere.Line)
	case near != "":
		if b := h.toolByPath(near); b != nil {
			near = signature(b)
		}
		return fmt.Sprintf("did you mean %s?", near)
	case h.globals() != "" && isCalled(name.Name, engine.Line(h.program.Source, name.Line)):
		return "use the tools: " + h.globals()
	}
	return ""
}

// isCalled reports whether a line awaits a call to a name or to one of its members.
func isCalled(name, line string) bool {
	called, err := regexp.MatchString(`\bawait\s+`+regexp.QuoteMeta(name)+`(\.[\w$]+)?\(`, line)
	return err == nil && called
}

// useTools adds the tool list to the reason why a global is missing.
func (h *host) useTools(missing string) string {
	globals := h.globals()
	if globals == "" {
		return missing + ", and the program has no tools"
	}
	return missing + "; use the tools: " + globals
}

var toolsPrefix = regexp.MustCompile(`\btools\.([\w$]+(?:\.[\w$]+)?)`)

// withoutPrefix is the hint for a program that writes tools.orders.list, although the tool is orders.list.
func (h *host) withoutPrefix(line int) string {
	m := toolsPrefix.FindStringSubmatch(engine.Line(h.program.Source, line))
	if m == nil || h.toolByPath(m[1]) == nil {
		return "the tools are globals: " + h.globals()
	}
	return "the tools are globals: write " + m[1]
}

// unknownToolHint is the hint for a member that a namespace does not have.
func (h *host) unknownToolHint(s engine.Site, members []string) string {
	const object = globals.Tools
	if s.Namespace == object && len(h.members(s.Name)) > 0 {
		return h.withoutPrefix(s.Line)
	}
	other := h.toolElsewhere(s.Name)
	meant := h.tool(s.Namespace, identifier(s.Name+"."+s.Member))
	if near := similar.Nearest(s.Name, members); meant == nil && near != "" && (s.Namespace != object || other == nil) {
		meant = h.tool(s.Namespace, near)
	}
	switch {
	case meant != nil:
		return fmt.Sprintf("did you mean %s?", signature(meant))
	case other == nil && s.Namespace == object:
		return fmt.Sprintf("%s has only %s; the others are globals: %s", object, h.memberList(object), h.globals())
	case other == nil:
		return fmt.Sprintf("%s has %s", s.Namespace, h.memberList(s.Namespace))
	case other.Object == "":
		return fmt.Sprintf("did you mean %s? it is a global, not a member of %s", signature(other), s.Namespace)
	}
	return fmt.Sprintf("did you mean %s?", signature(other))
}

// maxSignature is the maximum size of a tool's signature in a hint, in bytes.
const maxSignature = 600

// signature shows how to call a tool.
func signature(b *tools.Binding) string { return declare.Signature(b, maxSignature) }

// find returns the first binding for which matches returns true, or nil.
func (h *host) find(matches func(*tools.Binding) bool) *tools.Binding {
	if i := slices.IndexFunc(h.bindings, matches); i >= 0 {
		return h.bindings[i]
	}
	return nil
}

// tool returns the tool with the given name in a namespace, or nil. The name may also be what [identifier] makes of the
// tool's name.
func (h *host) tool(object, name string) *tools.Binding {
	is := func(own string) bool { return own == name || identifier(own) == name }
	return h.find(func(b *tools.Binding) bool { return b.Object == object && slices.ContainsFunc(b.Names, is) })
}

// toolElsewhere returns a tool with this name in any namespace, or nil.
func (h *host) toolElsewhere(name string) *tools.Binding {
	return h.find(func(b *tools.Binding) bool {
		return b.Object != globals.Tools && slices.Contains(b.Names, name)
	})
}

// toolByPath returns the tool with this path, or nil.
func (h *host) toolByPath(path string) *tools.Binding {
	return h.find(func(b *tools.Binding) bool { return b.Path() == path })
}

var separators = regexp.MustCompile(`[^\pL\pN]+`)

// identifier replaces each run of characters other than letters and digits with an underscore, and trims
// underscores.
func identifier(name string) string { return strings.Trim(separators.ReplaceAllString(name, "_"), "_") }

// members returns the names of a namespace's tools, or of the global functions if object is "".
func (h *host) members(object string) []string {
	var names []string
	for _, b := range h.bindings {
		if b.Object == object {
			names = append(names, b.Names...)
		}
	}
	return names
}

// memberList lists a namespace's tools.
func (h *host) memberList(namespace string) string {
	return h.list(func(b *tools.Binding) string {
		if b.Object != namespace {
			return ""
		}
		return b.Names[0]
	})
}

// globals lists the namespaces and the global functions.
func (h *host) globals() string {
	return h.list(func(b *tools.Binding) string {
		if b.Object == globals.Tools {
			return ""
		}
		return cmp.Or(b.Object, b.Names[0])
	})
}

// list lists the distinct names that the function name returns for the bindings, without "".
func (h *host) list(name func(*tools.Binding) string) string {
	names := map[string]bool{}
	for _, b := range h.bindings {
		names[name(b)] = true
	}
	delete(names, "")
	return listed(slices.Sorted(maps.Keys(names)))
}

// maxListed is the maximum number of names in a list.
const maxListed = 10

// listed joins names with commas. If there are more than maxListed names, it joins the first maxListed names and the
// number of the remaining ones.
func listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// names returns the names that the author of a program may have meant.
func (h *host) names() []string {
	names := []string{"console", "sleep", "setTimeout"}
	if h.program.Submit {
		names = append(names, "submit")
	}
	for _, b := range h.bindings {
		names = append(names, cmp.Or(b.Object, b.Names[0]), b.Path())
	}
	names = append(names, h.inputNames()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// inputNames returns the names of the inputs, including the session's inputs.
func (h *host) inputNames() []string {
	names := slices.Collect(maps.Keys(h.program.Inputs))
	for _, in := range h.step.sessionInputs() {
		names = append(names, in.Name)
	}
	return names
}
