package discovery

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

// Tool finds a tool by any of its names, in any case and punctuation, with or without
// the server's name if no other tool has that name. It returns nil if there is none.
func (d *Discovery) Tool(name string) *tools.Binding {
	name = dotted(name)
	if i := slices.IndexFunc(d.bindings, func(b *tools.Binding) bool { return b.Path() == name }); i >= 0 {
		return d.bindings[i]
	}
	if b, found := d.only(name, func(text string) string { return text }); found {
		return b
	}
	b, _ := d.only(name, folded)
	return b
}

// only finds the one tool of a name, as written by form. It returns nil if several tools
// have the name; found is false if no tool has it.
func (d *Discovery) only(name string, form func(string) string) (b *tools.Binding, found bool) {
	formed := form(name)
	var whole, alone []*tools.Binding // by the name with the server's, and without it
	for _, b := range d.bindings {
		own := append([]string{b.Name}, b.Names...)
		called := func(object string) bool {
			return slices.ContainsFunc(own, func(member string) bool { return form(object+"."+member) == formed })
		}
		switch {
		case formed == "":
		case b.Object != "" && (called(b.Object) || called(b.Namespace)):
			whole = append(whole, b)
		case slices.ContainsFunc(own, func(member string) bool { return form(member) == formed }):
			alone = append(alone, b)
		}
	}
	switch {
	case len(whole) == 1:
		return whole[0], true
	case len(whole) == 0 && len(alone) == 1 && len(d.server(name)) == 0:
		return alone[0], true
	}
	return nil, len(whole)+len(alone) > 0
}

// folded is a name without case and punctuation.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

const (
	maxNames = 50    // that a call of describe may have, or that braces may stand for
	maxName  = 1_000 // bytes of a name with braces
)

// expand replaces each name that is no tool's by the names that its braces stand for:
// {get,list}_order is get_order and list_order. It returns false if there are more.
func (d *Discovery) expand(names []string) (all []string, ok bool) {
	for _, name := range names {
		open := []string{name}
		if d.Tool(name) != nil || len(name) > maxName {
			all, open = append(all, name), nil
		}
		for len(open) > 0 && len(all) < maxNames {
			start, rest, opens := strings.Cut(open[0], "{")
			parts, end, closes := strings.Cut(rest, "}")
			if !opens || !closes {
				all, open = append(all, open[0]), open[1:]
				continue
			}
			var expanded []string
			for part := range strings.SplitSeq(parts, ",") {
				expanded = append(expanded, start+strings.TrimSpace(part)+end)
			}
			open = append(expanded, open[1:]...)
		}
		if len(open) > 0 {
			return all, false
		}
	}
	return all, true
}

// beginning returns the tools whose names begin with a name, in any case and punctuation.
func (d *Discovery) beginning(name string) []*tools.Binding {
	start := folded(name)
	return slices.DeleteFunc(slices.Clone(d.bindings), func(b *tools.Binding) bool {
		return len(start) < 3 || !strings.HasPrefix(folded(b.Path()), start) && !strings.HasPrefix(folded(b.Names[0]), start)
	})
}

// near is the tool or server that a name means: by any of its spellings, or the one
// whose name is nearest.
func (d *Discovery) near(name string) (tool *tools.Binding, server string) {
	if tool = d.Tool(name); tool != nil {
		return tool, ""
	}
	if list := d.server(name); len(list) > 0 {
		return nil, list[0].Object
	}
	list, paths := d.bindings, true
	if object, member, ok := strings.Cut(dotted(name), "."); !ok {
		paths = false
	} else if own := d.server(object); len(own) > 0 {
		list, name, paths = own, member, false
	}
	text := func(b *tools.Binding) string {
		if paths {
			return b.Path()
		}
		return b.Names[0]
	}
	candidates := make([]string, len(list))
	for i, b := range list {
		candidates[i] = text(b)
	}
	near := nearest(name, candidates)
	same := slices.DeleteFunc(slices.Clone(list), func(b *tools.Binding) bool { return text(b) != near })
	if len(same) == 1 {
		return same[0], ""
	}
	return nil, d.nearServer(name)
}

// nearServer is the object of the server that a name means, or "".
func (d *Discovery) nearServer(name string) string {
	if list := d.server(name); len(list) > 0 {
		return list[0].Object
	}
	var objects []string
	for _, b := range d.bindings {
		if b.Object != "" && !slices.Contains(objects, b.Object) {
			objects = append(objects, b.Object)
		}
	}
	return nearest(name, objects)
}

// nearest is the name that differs least, or "" if none is near. Short names are
// near too many others.
func nearest(name string, among []string) string {
	if len(name) < 4 {
		return ""
	}
	return schema.Nearest(name, among)
}

// dotted writes server["tool"] as server.tool.
func dotted(name string) string {
	object, rest, ok := strings.Cut(name, "[")
	member, err := strconv.Unquote(strings.TrimSuffix(rest, "]"))
	if !ok || err != nil {
		return name
	}
	return object + "." + member
}

// server returns the tools of a server, by any spelling of its name that no other
// server shares.
func (d *Discovery) server(name string) []*tools.Binding {
	list := d.within(func(b *tools.Binding) bool { return b.Object == name || b.Namespace == name })
	if len(list) > 0 {
		return list
	}
	name = folded(name)
	list = d.within(func(b *tools.Binding) bool { return folded(b.Object) == name || folded(b.Namespace) == name })
	other := func(b *tools.Binding) bool { return b.Object != list[0].Object }
	if slices.ContainsFunc(list, other) {
		return nil
	}
	return list
}

// within returns the tools of servers that match.
func (d *Discovery) within(match func(*tools.Binding) bool) []*tools.Binding {
	var list []*tools.Binding
	for _, b := range d.bindings {
		if b.Object != "" && match(b) {
			list = append(list, b)
		}
	}
	return list
}

// Unknown is the error of a name that nothing has, with the names that are near. What
// says what was looked for: a "tool", a "server", or a "tool or server".
func (d *Discovery) Unknown(what, name string) error {
	return &tools.ToolError{
		Kind:    tools.KindUnknownTool,
		Message: fmt.Sprintf("there is no %s %q; %s", what, shorten(name, 100), d.instead(what, name)),
	}
}

// instead says which names there are: those that are near, all of a few tools, or the
// servers.
func (d *Discovery) instead(what, name string) string {
	if what == "server" {
		return "there are: " + d.servers()
	}
	if near := d.suggestions(name); len(near) > 0 {
		return "did you mean " + alternatives(near) + "?"
	}
	return d.inventory(fmt.Sprintf("find one by %s; there are", d.howToSearch("")))
}

// inventory says which tools there are if they are few, or else after a lead which
// servers.
func (d *Discovery) inventory(lead string) string {
	if len(d.bindings) == 0 || len(d.bindings) > maxListed {
		return lead + ": " + d.servers()
	}
	paths := make([]string, len(d.bindings))
	for i, b := range d.bindings {
		paths[i] = b.Path()
	}
	return "the tools are " + strings.Join(paths, ", ")
}

// suggestions are the tools that a name may be meant for. If it begins with a
// server's name, only the rest is looked for: that they share the server says nothing.
func (d *Discovery) suggestions(name string) []string {
	object := ""
	if head, member, ok := strings.Cut(dotted(name), "."); ok && len(d.server(head)) > 0 {
		object, name = head, member
	}
	var own, others []string
	hits := d.index.Search(name, &search.Options{Limit: 10})
	for _, hit := range hits {
		switch {
		case hit.Score <= hits[0].Score/2:
		case strings.HasPrefix(hit.Name, object+"."):
			own = append(own, hit.Name)
		default:
			others = append(others, hit.Name)
		}
	}
	all := append(own, others...)
	return all[:min(len(all), 3)]
}

// maxListed is how many tools an error names.
const maxListed = 10

func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// alternatives joins names: a, b or c.
func alternatives(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
