package search

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/vectors"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/bm25"
)

// Index searches and describes a set's tools. It is safe for concurrent use.
type Index struct {
	set      *tools.Set
	bindings []*tools.Binding
	words    *bm25.Index
	meaning  *vectors.Index // nil to compare only words
	log      *slog.Logger   // not nil if meaning is not nil
	maxText  int            // approximate maximum size of a Describe result, in bytes

	// howToSearch returns advice on how to search all tools, or one server's tools.
	howToSearch func(server string) string
}

// New returns an Index of a set. A nil set is empty. [Index.Describe] returns at most about maxText bytes.
func New(set *tools.Set, maxText int) *Index {
	list := slices.DeleteFunc(set.Bindings(), func(b *tools.Binding) bool { return b.Object == globals.Tools })
	return &Index{set: set, bindings: list, words: bm25.New(list), maxText: maxText, howToSearch: inProgram}
}

// SearchedBy returns a copy of d for models that do not write programs: its advice refers to
// the given tool instead of tools.search.
func (d *Index) SearchedBy(tool string) *Index {
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
		return globals.Tools + ".search(query)"
	}
	return fmt.Sprintf("%s.search(query, {server: %q})", globals.Tools, server)
}

// Extended returns a copy of the set with two more tools, tools.search and tools.describe. They are tools of class
// [tools.Read]. The journal records their calls like any others, but policies do not apply to them, because they reveal
// only the set's tools. Extended returns the set itself if it is empty or already has these tools.
func (d *Index) Extended() *tools.Set {
	if len(d.bindings) == 0 || len(d.bindings) < d.set.Len() {
		return d.set
	}
	hints := &tools.Hints{Class: tools.Read}
	search := tools.Func("search", "Find tools by what they do.",
		func(ctx context.Context, in searchArgs) ([]Hit, error) { return d.Search(ctx, in.Query, &in.Options) }, hints)
	describe := tools.Func("describe", "Declare tools in full, or list the tools of a server.",
		func(_ context.Context, in describeArgs) (string, error) { return d.Describe(in.Name...) }, hints)
	search.Remark = d.remark
	describe.InputSchema = json.RawMessage(describeInput)
	search.Params, describe.Params = []string{"query", "options"}, []string{"name"}
	set := d.set
	for _, t := range []*tools.Tool{search, describe} {
		t.Namespace = globals.Tools
		extended, err := set.Plus(t)
		if err != nil {
			panic(err) // unreachable: the names and types are those above
		}
		set = extended
	}
	return set
}
