// Package evidence finds facts of a run that contradict its answer: lists that were read in part,
// effects that failed, and values that no answer should contain. It knows calls and values, and
// nothing about tasks.
package evidence

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/lists"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Lists are the lists that a run's programs have read, in full or in part. It is safe for concurrent use.
type Lists struct {
	mu      sync.Mutex
	program int // the current program's number
	reading int // the number of the last program that read anything
	lists   []*list
	keys    lists.Keys
}

// list is a list that has been read. A tool and its arguments, except the arguments for paging, identify a
// list.
type list struct {
	tool    *tools.Binding
	id      string          // the key from lists.Keys
	key     string          // the arguments without the paging arguments, as JSON
	states  []lists.State   // the states that the calls returned
	limited bool            // the last call requested only a few rows
	program int             // the last program that read the list
	at      sandbox.Finding // the position of the last call
}

// Finder returns a function that finds a set's tools by their paths.
func Finder(set *tools.Set) func(path string) *tools.Binding {
	byPath := sync.OnceValue(func() map[string]*tools.Binding {
		all := make(map[string]*tools.Binding, set.Len())
		for _, b := range set.Bindings() {
			all[b.Path()] = b
		}
		return all
	})
	return func(path string) *tools.Binding { return byPath()[path] }
}

// Unfinished returns facts about the lists that a single program has read in part.
func Unfinished(calls []sandbox.Call, set *tools.Set) []sandbox.Finding {
	l, find := Lists{}, Finder(set)
	for _, c := range calls {
		l.Add(c, find(c.Tool))
	}
	return l.Unfinished()
}

// Next begins the next program.
func (l *Lists) Next() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.program++
}

// Add adds a call that has ended.
func (l *Lists) Add(c sandbox.Call, b *tools.Binding) {
	if b == nil || b.Object == globals.Tools || c.Error != nil || c.Pending {
		return
	}
	s, part := lists.Read(c.Args, c.Result)
	if s.Pagination == lists.Total && !lists.Paged(b.InputSchema) {
		s, part = lists.State{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if part || !Acts(b) {
		l.reading = l.program
	}
	id := l.keys.Of(b.Path(), c.Args, s)
	i := slices.IndexFunc(l.lists, func(o *list) bool { return o.tool == b && o.id == id })
	switch {
	case i < 0 && !part:
		return
	case i < 0:
		i = len(l.lists)
		l.lists = append(l.lists, &list{tool: b, id: id, key: lists.Key(c.Args)})
	}
	o := l.lists[i]
	o.states = append(o.states, s)
	o.limited, o.program, o.at = limited(c.Args, s.Rows), l.program, sandbox.Finding{Line: c.Line, Column: c.Column}
}

// fewRows is the largest limit that shows that a program wants only a few rows.
const fewRows = 10

var limitName = regexp.MustCompile(`(?i)^(limit|size|count|first|top|max_?results|(page_?size|per_?page))$`)

// limited reports whether a call requested only a few rows and did not get more rows than that.
func limited(args json.RawMessage, rows int) bool {
	var given map[string]any
	_ = json.Unmarshal(args, &given)
	for name, value := range given {
		if n, ok := value.(float64); ok && limitName.MatchString(name) && n <= fewRows && float64(rows) <= n {
			return true
		}
	}
	return false
}

var searching = regexp.MustCompile(`(?i)(^|[^a-z])search($|[^a-z])|Search`)

// Unfinished returns facts about partly read lists. A list counts if the last program that read anything read part of
// it, and no program has read it to the end. Searches do not count.
func (l *Lists) Unfinished() []sandbox.Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unfinished(l.reading, false)
}

// Current is like Unfinished, but for the current program. If searches is true, it includes
// searches.
func (l *Lists) Current(searches bool) []sandbox.Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unfinished(l.program, searches)
}

// Has reports whether a tool has returned all or part of a list.
func (l *Lists) Has(b *tools.Binding) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lists, func(o *list) bool { return o.tool == b })
}

func (l *Lists) unfinished(program int, searches bool) (facts []sandbox.Finding) {
	for _, o := range l.lists {
		skip := o.program != program || o.limited || !searches && searching.MatchString(o.tool.Name)
		if !skip && !lists.Finished(o.states) {
			facts = append(facts, o.fact())
		}
	}
	return facts
}

// fact returns the fact that the list was read in part, with the calls that return the rest.
func (o *list) fact() sandbox.Finding {
	last, rows, seen := o.states[len(o.states)-1], 0, map[int]bool{}
	for i, s := range o.states {
		if s.Pagination == lists.More || !slices.Contains(o.states[:i], s) {
			rows, seen[s.Page] = rows+s.Rows, true
		}
	}
	of := strings.TrimSuffix(fmt.Sprintf("%d rows", rows), map[bool]string{true: "s"}[rows == 1])
	if last.Total > 0 {
		of += fmt.Sprintf(" of %d", last.Total)
	}
	read, calls := of+" were read, and there are more", o.call(rows, last)
	if last.Pagination == lists.Pages {
		delete(seen, 0)
		var missing []string
		for page := 1; page <= last.Pages && len(missing) < 4; page++ {
			if !seen[page] {
				name := cmp.Or(o.argument("page", "pagenumber", "pageno"), "page")
				missing = append(missing, o.with(name, strconv.Itoa(page)))
			}
		}
		read = fmt.Sprintf("page %d of %d was read (%s)", last.Page, last.Pages, of)
		if len(seen) > 1 {
			read = fmt.Sprintf("%d of %d pages were read (%s)", len(seen), last.Pages, of)
		}
		calls = strings.Join(missing, " and ")
		if len(missing) == 4 {
			calls = strings.Join(missing[:3], ", ") + " and so on"
		}
	}
	return sandbox.Finding{
		Kind: kindPartialList, Line: o.at.Line, Column: o.at.Column,
		Message: fmt.Sprintf("%s: %s. Call it with %s, and use all rows.", o.tool.Path(), read, calls),
	}
}

// call returns the arguments of the call that reads the next rows.
func (o *list) call(rows int, last lists.State) string {
	const until = ", and so on until there are no more"
	token := o.argument("cursor", "token", "pagetoken", "nexttoken", "continuationtoken", "continuation", "after",
		"startingafter", "url", "next")
	offset, page := o.argument("offset", "skip", "start", "from"), o.argument("page", "pagenumber", "pageno")
	switch {
	case last.Pagination == lists.Token && token != "":
		value, _ := json.Marshal(last.Next)
		if len(value) > 40 {
			value = []byte("…")
		}
		return o.with(token, string(value)) + ", then with the next value in each result until there is none"
	case last.Pagination == lists.More && token != "":
		return o.with(token, "…") + until
	case offset != "":
		return o.with(offset, strconv.Itoa(rows)) + until
	case page != "":
		return o.with(page, strconv.Itoa(len(o.states)+1)) + until
	case last.Total > 0 && o.argument("limit", "size", "count", "first") != "":
		return o.with(o.argument("limit", "size", "count", "first"), strconv.Itoa(last.Total))
	}
	return "its argument for the next part" + until
}

// with returns the list's arguments with one more argument.
func (o *list) with(name, value string) string {
	switch {
	case o.key == "{}":
		return fmt.Sprintf("{%s: %s}", name, value)
	case len(o.key) > 100:
		return fmt.Sprintf("{…, %s: %s}", name, value)
	}
	return fmt.Sprintf("%s, %s: %s}", strings.TrimSuffix(o.key, "}"), name, value)
}

// argument returns the first of the given names that is one of the tool's parameters, as the tool spells it, or "". The
// names are in lower case and without underscores.
func (o *list) argument(names ...string) string {
	var input struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(o.tool.InputSchema, &input)
	for _, name := range names {
		for property := range input.Properties {
			if strings.ToLower(strings.ReplaceAll(property, "_", "")) == name {
				return property
			}
		}
	}
	return ""
}
