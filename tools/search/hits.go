package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/prose"
	"github.com/writ-go/writ/tools/declare"
)

const (
	defaultLimit = 10
	maxLimit     = 50 // hits of a search
	maxDeclared  = 5  // hits of a search that are declared
)

type searchArgs struct {
	Query   string  `json:"query"`
	Options Options `json:"options,omitzero"`
}

// Options restricts and extends the hits of [Index.Search].
type Options struct {
	Server  string  `json:"server,omitempty"`  // search only this server's tools
	Limit   float64 `json:"limit,omitempty"`   // number of hits, at most 50; 10 if it is zero or less
	Declare bool    `json:"declare,omitempty"` // declare the first few hits in full
}

// Hit is a tool that a search found.
type Hit struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Declaration string `json:"declaration,omitempty"`
}

// Search returns the tools that match the query best. It returns an error if the server
// does not exist. Nil options are the defaults. The context limits only requests to the embedder; see
// [Index.ByMeaning].
func (d *Index) Search(ctx context.Context, query string, o *Options) ([]Hit, error) {
	if o == nil {
		o = &Options{}
	}
	server := ""
	if o.Server != "" {
		if server = d.nearServer(o.Server); server == "" {
			return nil, d.Unknown("server", o.Server)
		}
	}
	limit := int(max(0, min(o.Limit, maxLimit)))
	hits := []Hit{}
	left := d.maxText
	for i, found := range d.find(ctx, query, server, cmp.Or(limit, defaultLimit)) {
		hit := Hit{Name: found.Path(), Description: Summary(found.Description)}
		if o.Declare && i < maxDeclared {
			text := declare.Describe(found.Binding)
			if left -= len(text); left >= 0 {
				hit.Declaration = text
			}
		}
		hits = append(hits, hit)
	}
	return hits, nil
}

// maxSummary is the maximum size of a summary, in bytes.
const maxSummary = 300

// Summary returns the first sentence of a description. It cuts a long sentence after a
// word.
func Summary(description string) string {
	head := strings.ToValidUTF8(description[:min(len(description), 4*maxSummary)], "")
	sentences := prose.Sentences(head)
	if len(sentences) == 0 {
		return ""
	}
	text := display.OneLine(sentences[0])
	if len(text) <= maxSummary {
		return text
	}
	cut := strings.ToValidUTF8(text[:maxSummary], "")
	if word := strings.LastIndexByte(cut, ' '); word > 0 {
		cut = cut[:word]
	}
	return cut + "…"
}

// remark implements [tools.Tool.Remark] for tools.search.
func (d *Index) remark(args, result json.RawMessage) string {
	var in searchArgs
	if string(result) != "[]" || json.Unmarshal(args, &in) != nil {
		return ""
	}
	return d.NothingFound(in.Query)
}

// NothingFound returns a remark for the model about a search without hits. It lists the
// servers or tools that exist.
func (d *Index) NothingFound(query string) string {
	what := d.inventory("search with other words, or describe a server to list its tools; available")
	return fmt.Sprintf("no tool matches %q; %s", display.Cut(query, 100), what)
}

// maxServers is the maximum number of servers that a remark or an error lists.
const maxServers = 20

// servers lists the servers with the number of their tools, the largest servers first.
func (d *Index) servers() string {
	count := map[string]int{}
	var names []string
	for _, b := range d.bindings {
		if count[b.Object]++; count[b.Object] == 1 && b.Object != "" {
			names = append(names, b.Object)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	var parts []string
	for _, name := range names[:min(len(names), maxServers)] {
		parts = append(parts, fmt.Sprintf("%s (%s)", name, display.Plural(count[name], "tool")))
	}
	if more := len(names) - len(parts); more > 0 {
		parts = append(parts, display.Plural(more, "more server"))
	}
	if n := count[""]; n > 0 {
		parts = append(parts, display.Plural(n, "global function"))
	}
	return strings.Join(parts, ", ")
}
