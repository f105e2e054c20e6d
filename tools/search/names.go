package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/tools"
)

// Tool finds a tool by any of its names, ignoring case and punctuation. The name may omit the server if it is
// unique without the server. Tool returns nil if no tool, or more than one tool, has the name.
func (d *Index) Tool(name string) *tools.Binding {
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

// only finds the tool that has the given name after both names are normalized. It returns nil if several tools
// have the name. found is false if no tool has the name.
func (d *Index) only(name string, normalize func(string) string) (b *tools.Binding, found bool) {
	wanted := normalize(name)
	if wanted == "" {
		return nil, false
	}
	var qualified, unqualified []*tools.Binding // matches with and without the server's name
	for _, b := range d.bindings {
		has := func(prefix string) bool {
			return slices.ContainsFunc(append(slices.Clip(b.Names), b.Name), func(member string) bool {
				return normalize(prefix+member) == wanted
			})
		}
		switch {
		case b.Object != "" && (has(b.Object+".") || has(b.Namespace+".")):
			qualified = append(qualified, b)
		case has(""):
			unqualified = append(unqualified, b)
		}
	}
	switch {
	case len(qualified) == 1:
		return qualified[0], true
	case len(qualified) == 0 && len(unqualified) == 1 && len(d.server(name)) == 0:
		return unqualified[0], true
	}
	return nil, len(qualified)+len(unqualified) > 0
}

// folded returns a name in lower case and without punctuation.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

const (
	maxNames = 50    // names in a call to describe after the braces are expanded
	maxName  = 1_000 // bytes of a name with braces
)

// expand expands braces in names, unless a tool has the name: {get,list}_order becomes
// get_order and list_order. ok is false if there are more than maxNames names.
func (d *Index) expand(names []string) (all []string, ok bool) {
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

// withPrefix returns the tools whose names begin with prefix, ignoring case and punctuation.
func (d *Index) withPrefix(prefix string) []*tools.Binding {
	start := folded(prefix)
	return slices.DeleteFunc(slices.Clone(d.bindings), func(b *tools.Binding) bool {
		return len(start) < 3 || !strings.HasPrefix(folded(b.Path()), start) &&
			!strings.HasPrefix(folded(b.Names[0]), start)
	})
}

// near returns the tool or the server with the given name or, if the name does not exist, the tool or the
// server with the most similar name.
func (d *Index) near(name string) (tool *tools.Binding, server string) {
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

// nearServer returns the object of the server with the given name or, if there is no such server, of the server with
// the most similar name. It returns "" if no server has a similar name.
func (d *Index) nearServer(name string) string {
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

// nearest returns the most similar name, or "" if no name is similar. Names of fewer than four
// letters are similar to too many others.
func nearest(name string, among []string) string {
	if len(name) < 4 {
		return ""
	}
	return similar.Nearest(name, among)
}

// dotted returns server.tool for server["tool"].
func dotted(name string) string {
	object, rest, ok := strings.Cut(name, "[")
	member, err := strconv.Unquote(strings.TrimSuffix(rest, "]"))
	if !ok || err != nil {
		return name
	}
	return object + "." + member
}

// server returns the tools of the server with the given name. If no server has exactly this name, server ignores case
// and punctuation, but returns nil if several servers match.
func (d *Index) server(name string) []*tools.Binding {
	list := d.serverTools(func(b *tools.Binding) bool { return b.Object == name || b.Namespace == name })
	if len(list) > 0 {
		return list
	}
	name = folded(name)
	list = d.serverTools(func(b *tools.Binding) bool { return folded(b.Object) == name || folded(b.Namespace) == name })
	other := func(b *tools.Binding) bool { return b.Object != list[0].Object }
	if slices.ContainsFunc(list, other) {
		return nil
	}
	return list
}

// serverTools returns the tools that belong to any server and for which match returns true.
func (d *Index) serverTools(match func(*tools.Binding) bool) []*tools.Binding {
	var list []*tools.Binding
	for _, b := range d.bindings {
		if b.Object != "" && match(b) {
			list = append(list, b)
		}
	}
	return list
}

// Unknown returns the error for a name that does not exist. The error lists similar names. The argument what is
// "tool", "server" or "tool or server".
func (d *Index) Unknown(what, name string) error {
	return &tools.ToolError{
		Kind:    tools.KindUnknownTool,
		Message: fmt.Sprintf("there is no %s %q; %s", what, display.Cut(name, 100), d.instead(what, name)),
	}
}

// instead lists similar names. If there are no similar names, it lists all tools if they are few, and otherwise
// the servers.
func (d *Index) instead(what, name string) string {
	if what == "server" {
		return "available: " + d.servers()
	}
	if near := d.suggestions(name); len(near) > 0 {
		return "did you mean " + alternatives(near) + "?"
	}
	return d.inventory(fmt.Sprintf("find one with %s; available", d.howToSearch("")))
}

// inventory lists all tools if they are few. Otherwise, it lists the servers after an
// introduction.
func (d *Index) inventory(introduction string) string {
	if len(d.bindings) == 0 || len(d.bindings) > maxListed {
		return introduction + ": " + d.servers()
	}
	paths := make([]string, len(d.bindings))
	for i, b := range d.bindings {
		paths[i] = b.Path()
	}
	return "the tools are " + strings.Join(paths, ", ")
}

// suggestions returns up to three tools that match the words of a name. If the name begins with a server's name, only
// the rest is searched, and that server's tools come first.
func (d *Index) suggestions(name string) []string {
	object := ""
	if head, member, ok := strings.Cut(dotted(name), "."); ok && len(d.server(head)) > 0 {
		object, name = head, member
	}
	var own, others []string
	hits := d.words.Search(name, "", 10)
	for _, hit := range hits {
		switch {
		case hit.Score <= hits[0].Score/2:
		case hit.Object == object:
			own = append(own, hit.Path())
		default:
			others = append(others, hit.Path())
		}
	}
	all := append(own, others...)
	return all[:min(len(all), 3)]
}

// maxListed is the maximum number of tools that an error lists.
const maxListed = 10

// alternatives joins names as in "a, b or c".
func alternatives(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
