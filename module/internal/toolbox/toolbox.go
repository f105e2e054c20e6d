// Package toolbox calls tools for a model that names one tool at a time, outside of programs.
package toolbox

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

// Toolbox is a set of tools, with tools.search and tools.describe, for a model that calls them by name.
type Toolbox struct {
	// Bindings are the tools. A tool is identified by its index.
	Bindings []*tools.Binding

	set       *tools.Set
	discovery *search.Index
}

// New returns the toolbox of a set. The embedder and the logger are those of [search.Index.ByMeaning].
func New(set *tools.Set, e search.Embedder, log *slog.Logger) *Toolbox {
	d := search.New(set, prompt.MaxText).SearchedBy(globals.Tools+".search").ByMeaning(e, log)
	set = d.Extended()
	return &Toolbox{set: set, Bindings: set.Bindings(), discovery: d}
}

// Find returns the index of a tool among the bindings. The error names similar tools.
func (t *Toolbox) Find(name string) (int, error) {
	own := func(b *tools.Binding) bool { return b.Object == globals.Tools && b.Path() == name }
	if i := slices.IndexFunc(t.Bindings, own); i >= 0 {
		return i, nil
	}
	if b := t.discovery.Tool(name); b != nil {
		return slices.Index(t.Bindings, b), nil
	}
	if t.set.Len() == 0 {
		return 0, fmt.Errorf("there is no tool %q; submit is the only tool", display.Cut(name, 100))
	}
	return 0, t.discovery.Unknown("tool", name)
}

// Remark returns the tool's remark about a call's result, or "".
func Remark(b *tools.Binding, c sandbox.Call) string {
	if c.Error != nil {
		return ""
	}
	if text := dispatch.Remark(b, c.Args, c.Result); text != "" {
		return "\n" + text
	}
	return ""
}
