// Package discovery is how a model finds out about tools that its prompt does
// not show: by tools.search and tools.describe, and by names that are nearly
// right.
package discovery

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/search"
)

// Object is the object that has search and describe. Its name is reserved, so that
// no tool of anybody else's can be in it.
const Object = "tools"

// Discovery is what can be found out about the tools of a set.
type Discovery struct {
	bindings []*tools.Binding
	index    *search.Index
	most     int // bytes of a description

	// finding is how texts say that tools are searched for: all, or those of a server.
	finding func(server string) string
}

// New returns what can be found out about a set, in texts of about most bytes.
func New(set *tools.Set, most int) *Discovery {
	return &Discovery{bindings: set.Bindings(), index: search.New(set), most: most, finding: inProgram}
}

// SearchedBy returns the same for readers who do not write programs: its texts send
// them to the MCP tool of that name, not to tools.search.
func (d *Discovery) SearchedBy(tool string) *Discovery {
	other := *d
	other.finding = func(server string) string {
		if server == "" {
			return tool
		}
		return fmt.Sprintf("%s with server: %q", tool, server)
	}
	return &other
}

func inProgram(server string) string {
	if server == "" {
		return Object + ".search(query)"
	}
	return fmt.Sprintf("%s.search(query, {server: %q})", Object, server)
}

// Tools returns tools.search and tools.describe, and who performs their calls. They
// have no effects, and no policy or ledger is told of them.
func (d *Discovery) Tools() ([]*tools.Binding, *tools.Dispatcher) {
	own, err := tools.NewSet(context.Background(),
		tools.Func("search", "Find tools by what they do.", d.search, nil),
		tools.Func("describe", "Declare one tool in full, or list those of a server.", d.describe, nil))
	if err != nil {
		panic(err) // unreachable: names and types stand above
	}
	list := own.Bindings()
	for _, b := range list {
		b.Object = Object
	}
	return list, own.Dispatcher(nil)
}

type searchArgs struct {
	Query   string `json:"query"`
	Options struct {
		Server string `json:"server,omitempty"`
		Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50"`
	} `json:"options,omitzero"`
}

// found is a tool as tools.search shows it.
type found struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func (d *Discovery) search(_ context.Context, in searchArgs) ([]found, error) {
	if server := in.Options.Server; server != "" && len(d.server(server)) == 0 {
		return nil, d.Unknown("server", server)
	}
	list := []found{}
	for _, hit := range d.index.Search(in.Query, &search.Options{Server: in.Options.Server, Limit: in.Options.Limit}) {
		list = append(list, found{hit.Name, hit.Description})
	}
	return list, nil
}

type describeArgs struct {
	Name string `json:"name"`
}

func (d *Discovery) describe(_ context.Context, in describeArgs) (string, error) {
	if b := d.Tool(in.Name); b != nil {
		return d.cut(declare.Describe(b), "the rest is left out"), nil
	}
	if list := d.server(in.Name); len(list) > 0 {
		return d.overview(in.Name, list), nil
	}
	return "", d.Unknown("tool or server", in.Name)
}

// overview lists the tools of a server.
func (d *Discovery) overview(server string, list []*tools.Binding) string {
	var text strings.Builder
	fmt.Fprintf(&text, "the tools of %s, %d:\n", server, len(list))
	for _, b := range list {
		text.WriteString(b.Path())
		if summary := search.Summary(b.Description); summary != "" {
			text.WriteString(": " + summary)
		}
		text.WriteByte('\n')
	}
	return d.cut(text.String(), "there are more: "+d.finding(server))
}

// cut ends a text that is too long, after a line if it has short ones, and says so.
func (d *Discovery) cut(text, remark string) string {
	if len(text) <= d.most {
		return text
	}
	text = shorten(text, d.most)
	if end := strings.LastIndexByte(text, '\n'); end >= d.most/2 {
		text = text[:end]
	}
	return text + "\n// " + remark + "\n"
}

// Tool finds a tool by any of its names, with or without the server's where there
// is but one of that name.
func (d *Discovery) Tool(name string) *tools.Binding {
	name = dotted(name)
	var same []*tools.Binding
	for _, b := range d.bindings {
		member, isMember := strings.CutPrefix(name, b.Object+".")
		foreign, isForeign := strings.CutPrefix(name, b.Namespace+".")
		switch {
		case b.Path() == name, isMember && slices.Contains(b.Names, member), isForeign && b.Name == foreign:
			return b
		case b.Name == name, slices.Contains(b.Names, name):
			same = append(same, b)
		}
	}
	if len(same) == 1 && len(d.server(name)) == 0 {
		return same[0]
	}
	return nil
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

// server returns the tools of a server.
func (d *Discovery) server(name string) []*tools.Binding {
	var list []*tools.Binding
	for _, b := range d.bindings {
		if b.Object != "" && (b.Object == name || b.Namespace == name) {
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

func (d *Discovery) instead(what, name string) string {
	var servers, near []string
	for _, b := range d.bindings {
		if b.Object != "" && !slices.Contains(servers, b.Object) {
			servers = append(servers, b.Object)
		}
	}
	if server := schema.Nearest(name, servers); server != "" && what != "tool" {
		near = append(near, server)
	}
	if what != "server" {
		near = append(near, d.near(name)...)
	}
	switch {
	case len(near) > 0:
		return "did you mean " + alternatives(near) + "?"
	case what == "server" && len(servers) > 0:
		slices.Sort(servers)
		return "there is " + alternatives(servers[:min(len(servers), maxListed)])
	}
	return d.all()
}

// all says which tools there are, or how to find one where they are many.
func (d *Discovery) all() string {
	if len(d.bindings) == 0 || len(d.bindings) > maxListed {
		return "find one by " + d.finding("")
	}
	names := make([]string, len(d.bindings))
	for i, b := range d.bindings {
		names[i] = b.Path()
	}
	return "there is " + alternatives(names)
}

// near are the tools that a name may be meant for. Where it begins with a server's,
// only the rest is looked for: that they have a server is nothing in common.
func (d *Discovery) near(name string) []string {
	object := ""
	if head, member, ok := strings.Cut(dotted(name), "."); ok && len(d.server(head)) > 0 {
		object, name = head, member
	}
	var own, others []string
	for _, hit := range d.index.Search(name, &search.Options{Limit: 10}) {
		switch {
		case hit.Score <= 0:
		case strings.HasPrefix(hit.Name, object+"."):
			own = append(own, hit.Name)
		default:
			others = append(others, hit.Name)
		}
	}
	all := append(own, others...)
	return all[:min(len(all), 3)]
}

// maxListed is how many servers or tools an error names.
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
