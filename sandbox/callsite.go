package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// site judges one call of a tool.
func (h *host) site(s engine.Site) []Finding {
	if s.Tool < 0 || s.Tool >= len(h.bindings) {
		return []Finding{h.unknownTool(s)}
	}
	if s.Fails {
		return []Finding{h.promise(s)}
	}
	if s.Args == nil {
		return nil
	}
	b := h.bindings[s.Tool]
	args := b.Named(s.Args.JSON)
	if !bytes.HasPrefix(args, []byte("{")) {
		what := shape(args)
		if slices.Contains(s.Args.Unknown, "") { // all that is known
			what = "a text"
		}
		message := fmt.Sprintf("%s: a tool takes one object, not %s", b.Path(), what)
		return []Finding{h.finding(KindInvalidArgument, message, declared(b), s.Pos)}
	}
	violations := b.Check(args, s.Args.Unknown)
	if len(violations) == 0 {
		return nil
	}
	return []Finding{h.finding(KindInvalidArgument, b.Path()+": "+schema.Summary(violations), declared(b), s.Pos)}
}

// promise words a promise that is used as only its result can be, which throws.
func (h *host) promise(s engine.Site) Finding {
	call := h.path(s.Tool) + "(…)"
	if s.Holder != "" {
		message := fmt.Sprintf("%s is a promise: await it before reading %s", s.Holder, s.Property)
		return h.finding(KindNotAwaited, message, "write await before "+call, s.Pos)
	}
	message := fmt.Sprintf("%s is a promise: await it before reading %s", call, s.Property)
	return h.finding(KindNotAwaited, message, fmt.Sprintf("write (await %s)", call), s.Pos)
}

// shape is what was passed instead of an object.
func shape(args json.RawMessage) string {
	if bytes.HasPrefix(args, []byte("[")) {
		return "an array"
	}
	return shorten(string(args), 40)
}

// maxSignature is how many bytes of a tool's signature a hint shows.
const maxSignature = 600

// signature is how a tool is called.
func signature(b *tools.Binding) string {
	if b.Object == discoverer {
		return usage[b.Name]
	}
	return declare.Signature(b, maxSignature)
}

// declared is the hint for a call with other arguments than the tool takes.
func declared(b *tools.Binding) string { return "it is declared as " + signature(b) }

// unknownTool words a call of what is no tool: a member that a namespace does not
// have, a namespace, or a member of a tool.
func (h *host) unknownTool(s engine.Site) Finding {
	if s.Name == "" {
		message := fmt.Sprintf("%s is not a function: it holds tools", s.Namespace)
		return h.finding(KindUnknownTool, message, "call one of them: "+h.list(s.Namespace), s.Pos)
	}
	members := h.members(s.Namespace)
	switch {
	case len(members) == 0:
		return h.memberOfTool("", s.Namespace, s.Name, s.Pos)
	case s.Member != "" && slices.Contains(members, s.Name):
		member, _, _ := strings.Cut(s.Member, ".")
		return h.memberOfTool(s.Namespace, s.Name, member, s.Pos)
	}
	return h.finding(KindUnknownTool, fmt.Sprintf("%s has no tool %q", s.Namespace, s.Name), h.insteadOf(s, members), s.Pos)
}

// insteadOf is the hint for a member that a namespace does not have.
func (h *host) insteadOf(s engine.Site, members []string) string {
	if s.Namespace == discoverer && len(h.members(s.Name)) > 0 {
		return h.withoutPrefix(s.Line)
	}
	other := h.elsewhere(s.Name)
	meant := h.tool(s.Namespace, identifier(s.Name+"."+s.Member))
	if near := schema.Nearest(s.Name, members); meant == nil && near != "" && (s.Namespace != discoverer || other == nil) {
		meant = h.tool(s.Namespace, near)
	}
	switch {
	case meant != nil:
		return fmt.Sprintf("did you mean %s?", signature(meant))
	case other == nil && s.Namespace == discoverer:
		return fmt.Sprintf("%s has only %s; the others are globals: %s", discoverer, h.list(discoverer), h.globals())
	case other == nil:
		return fmt.Sprintf("%s has %s", s.Namespace, h.list(s.Namespace))
	case other.Object == "":
		return fmt.Sprintf("did you mean %s? it is a global, not a member of %s", signature(other), s.Namespace)
	}
	return fmt.Sprintf("did you mean %s?", signature(other))
}

// tool finds a tool by one of its names. It returns nil if no tool has that name.
func (h *host) tool(object, name string) *tools.Binding {
	is := func(own string) bool { return own == name || identifier(own) == name }
	for _, b := range h.bindings {
		if b.Object == object && slices.ContainsFunc(b.Names, is) {
			return b
		}
	}
	return nil
}

var noLetters = regexp.MustCompile(`[^\pL\pN]+`)

// identifier is a name with underscores in the place of all that separates its words.
func identifier(name string) string { return strings.Trim(noLetters.ReplaceAllString(name, "_"), "_") }

// memberOfTool words search.query({}) where search is a tool.
func (h *host) memberOfTool(object, name, member string, at engine.Pos) Finding {
	if b := h.tool(object, name); b != nil {
		message := fmt.Sprintf("%s is a tool, not an object: it has no member %q", b.Path(), member)
		return h.finding(KindUnknownTool, message, declared(b), at)
	}
	return h.finding(KindUnknownTool, fmt.Sprintf("%s has no member %q", name, member), "", at) // the worker lies
}

// elsewhere finds a tool that has the name in another namespace, or nil.
func (h *host) elsewhere(name string) *tools.Binding {
	for _, b := range h.bindings {
		if b.Object != discoverer && slices.Contains(b.Names, name) {
			return b
		}
	}
	return nil
}

// maxListed is how many tools a hint names.
const maxListed = 10

// list names the tools of a namespace.
func (h *host) list(namespace string) string {
	var names []string
	for _, b := range h.bindings {
		if b.Object == namespace {
			names = append(names, b.Names[0])
		}
	}
	slices.Sort(names)
	return few(names)
}

// few lists names, but not too many.
func few(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}
