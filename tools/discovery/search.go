package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/search"
)

const (
	maxLimit    = 50 // how many hits a search returns at most
	maxDeclared = 5  // how many of them it declares at most
)

type searchArgs struct {
	Query   string `json:"query"`
	Options struct {
		Server  string  `json:"server,omitempty"`
		Limit   float64 `json:"limit,omitempty"` // any number: it is clamped
		Declare bool    `json:"declare,omitempty"`
	} `json:"options,omitzero"`
}

// found is a tool as tools.search shows it.
type found struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Declaration string `json:"declaration,omitempty"`
}

func (d *Discovery) search(_ context.Context, in searchArgs) ([]found, error) {
	o := search.Options{Limit: int(max(0, min(in.Options.Limit, maxLimit)))}
	if in.Options.Server != "" {
		if o.Server = d.nearServer(in.Options.Server); o.Server == "" {
			return nil, d.Unknown("server", in.Options.Server)
		}
	}
	list := []found{}
	left := d.most
	for i, hit := range d.index.Search(in.Query, &o) {
		f := found{Name: hit.Name, Description: hit.Description}
		if in.Options.Declare && i < maxDeclared {
			text := declare.Describe(d.Tool(hit.Name))
			if left -= len(text); left >= 0 {
				f.Declaration = text
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// Note returns what to tell the caller of a tool that [Discovery.Tools] returned in
// addition to its result: if a search found nothing, which servers or tools there are. It
// is empty for all other calls.
func (d *Discovery) Note(c tools.Call, result json.RawMessage) string {
	var in searchArgs
	if string(result) != "[]" || json.Unmarshal(c.Args, &in) != nil {
		return ""
	}
	what := d.inventory("search in other words, or describe a server to list its tools; there are")
	return fmt.Sprintf("no tool fits %q; %s", shorten(in.Query, 100), what)
}

// maxServers is how many servers a note names.
const maxServers = 20

// servers says which servers there are and how many tools each has, the largest
// first.
func (d *Discovery) servers() string {
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
		parts = append(parts, fmt.Sprintf("%s (%s)", name, plural(count[name], "tool")))
	}
	if more := len(names) - len(parts); more > 0 {
		parts = append(parts, plural(more, "more server"))
	}
	if n := count[""]; n > 0 {
		parts = append(parts, plural(n, "global function"))
	}
	return strings.Join(parts, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
