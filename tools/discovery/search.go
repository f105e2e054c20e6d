package discovery

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/search"
)

const (
	maxLimit    = 50 // hits of a search
	maxDeclared = 5  // hits of a search that are declared
)

type searchArgs struct {
	Query   string        `json:"query"`
	Options SearchOptions `json:"options,omitzero"`
}

// SearchOptions restricts and extends the hits of [Discovery.Search].
type SearchOptions struct {
	Server  string  `json:"server,omitempty"`  // search only the tools of this server
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
// does not exist. Nil options are the defaults.
func (d *Discovery) Search(query string, o *SearchOptions) ([]Hit, error) {
	if o == nil {
		o = &SearchOptions{}
	}
	options := search.Options{Limit: int(max(0, min(o.Limit, maxLimit)))}
	if o.Server != "" {
		if options.Server = d.nearServer(o.Server); options.Server == "" {
			return nil, d.Unknown("server", o.Server)
		}
	}
	hits := []Hit{}
	left := d.maxText
	for i, found := range d.index.Search(query, &options) {
		hit := Hit{Name: found.Name, Description: found.Description}
		if o.Declare && i < maxDeclared {
			text := declare.Describe(d.Tool(found.Name))
			if left -= len(text); left >= 0 {
				hit.Declaration = text
			}
		}
		hits = append(hits, hit)
	}
	return hits, nil
}

// Note returns a text for the model in addition to the result of a call. If a call of
// tools.search found nothing, the note lists the servers or tools that exist. For all other
// calls, the note is empty.
func (d *Discovery) Note(tool string, args, result json.RawMessage) string {
	var in searchArgs
	if tool != Object+".search" || string(result) != "[]" || json.Unmarshal(args, &in) != nil {
		return ""
	}
	return d.NothingFound(in.Query)
}

// NothingFound returns a text for the model after a search without hits. It lists the
// servers or tools that exist.
func (d *Discovery) NothingFound(query string) string {
	what := d.inventory("search in other words, or describe a server to list its tools; there are")
	return fmt.Sprintf("no tool fits %q; %s", shorten(query, 100), what)
}

// maxServers is the number of servers that a note names.
const maxServers = 20

// servers lists the servers with the number of their tools, the largest first.
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
