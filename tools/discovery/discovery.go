// Package discovery lets a model find tools that its prompt does not show: with the tools
// tools.search and tools.describe, and by names that are almost correct.
package discovery

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

// Object is the global object that holds search and describe. The name is reserved.
const Object = tools.BuiltinNamespace

// Discovery searches and describes the tools of a set.
type Discovery struct {
	set      *tools.Set
	bindings []*tools.Binding
	index    *search.Index
	maxText  int // bytes of a description

	// howToSearch returns the words that tell the reader how to search all tools, or
	// those of one server.
	howToSearch func(server string) string
}

// New returns a Discovery for set. Its descriptions have at most about maxText bytes.
func New(set *tools.Set, maxText int) *Discovery {
	return &Discovery{
		set: set, bindings: set.Bindings(), index: search.New(set), maxText: maxText, howToSearch: inProgram,
	}
}

// SearchedBy returns a copy of d for models that do not write programs: its texts refer to
// the given tool instead of tools.search.
func (d *Discovery) SearchedBy(tool string) *Discovery {
	other := *d
	other.howToSearch = func(server string) string {
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

// Extended returns a copy of the set with two more tools, tools.search and tools.describe.
// They are tools of class [tools.Read] which the journal records like any other, but
// policies do not apply to them: they reveal only the set. An empty set is returned
// unchanged.
func (d *Discovery) Extended() *tools.Set {
	if d.set.Len() == 0 {
		return d.set
	}
	hints := &tools.Hints{Class: tools.Read}
	search := tools.Func("search", "Find tools by what they do.",
		func(_ context.Context, in searchArgs) ([]Hit, error) { return d.Search(in.Query, &in.Options) }, hints)
	describe := tools.Func("describe", "Declare tools in full, or list those of a server.",
		func(_ context.Context, in describeArgs) (string, error) { return d.Describe(in.Name...) }, hints)
	describe.InputSchema = json.RawMessage(describeInput)
	search.Params, describe.Params = []string{"query", "options"}, []string{"name"}
	set := d.set
	for _, t := range []*tools.Tool{search, describe} {
		t.Namespace = Object
		extended, err := set.Plus(t)
		if err != nil {
			panic(err) // unreachable: the names and types are those above
		}
		set = extended
	}
	return set
}
