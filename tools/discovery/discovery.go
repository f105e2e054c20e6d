// Package discovery is how a model finds out about tools that its prompt does
// not show: by tools.search and tools.describe, and by names that are nearly
// right.
package discovery

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/tools"
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

// Tools returns tools.search and tools.describe, and the dispatcher that performs
// their calls. They have no effects, and no policy or journal is told of them.
func (d *Discovery) Tools() ([]*tools.Binding, *tools.Dispatcher) {
	describe := tools.Func("describe", "Declare tools in full, or list those of a server.", d.describe, nil)
	describe.InputSchema = json.RawMessage(describeInput)
	own, err := tools.NewSet(context.Background(),
		tools.Func("search", "Find tools by what they do.", d.search, nil), describe)
	if err != nil {
		panic(err) // unreachable: names and types stand above
	}
	list := own.Bindings()
	for _, b := range list {
		b.Object = Object
	}
	return list, own.Dispatcher(nil)
}
