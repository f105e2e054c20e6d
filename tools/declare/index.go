package declare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/tools"
)

// index lists tool names by server, in Markdown. Names that share their parts are listed as one family, such as
// {get,list}_{order,user}, and read-only tools are listed separately. If a server's names do not fit, index shows the
// number of its tools and the most frequent words in their names, or only the number. If not even all servers fit, it
// shows the largest ones. It always shows at least one line.
func index(objects []*object, budget int) string {
	legend := legend(objects[0])
	entries := make([]*entry, len(objects))
	for i, o := range objects {
		entries[i] = newEntry(o)
	}
	slices.SortStableFunc(entries, (*entry).compare)
	entries, remainder, left := fitting(entries, min(budget, maxBudget)*100-hundredths(legend))
	for _, e := range entries {
		if len(e.tools) > maxFrequent {
			left = e.replace(e.words(), left)
		}
	}
	for _, e := range slices.Backward(entries) {
		if perName*len(e.tools) <= left {
			left = e.replace(e.names(), left)
		}
	}
	text := legend
	for _, e := range entries {
		text += e.text
	}
	return text + remainder
}

const (
	// maxFrequent is the number of words shown instead of a server's names.
	maxFrequent = 16

	// perName is the minimum size of a name, in hundredths of a token. It avoids computing
	// families that cannot fit.
	perName = 40
)

// Names lists tools by their names, as [Markdown] does if declarations do not fit, and
// explains the notation.
func Names(list ...*tools.Binding) string {
	text := combinations + "\n"
	for _, o := range group(list) {
		text += newEntry(o).names()
	}
	return text
}

// combinations explains the braces of a family.
const combinations = "{get,list}_{a,b} stands for get_a, get_b, list_a and list_b."

// legend explains the list, with an object's tool as the example.
func legend(o *object) string {
	example := o.tools[0]
	if i := slices.IndexFunc(o.tools, (*tool).reads); i >= 0 {
		example = o.tools[i]
	}
	return "These tools are not declared above. tools.search(query) finds tools; " +
		"tools.describe(name) returns a declaration, which shows the arguments. " + combinations +
		" Call a tool by its whole name, such as `await " + example.Path() + "({…})`.\n"
}

// fitting returns the entries that fit, a line about the remaining ones, and the room that is
// left.
func fitting(entries []*entry, room int) (shown []*entry, remainder string, left int) {
	more := 0
	for _, e := range entries {
		more += len(e.tools)
	}
	for i, e := range entries {
		with, without := room-hundredths(e.text), others(len(entries)-i-1, more-len(e.tools))
		if i > 0 && with < hundredths(without) {
			remainder = others(len(entries)-i, more)
			return entries[:i], remainder, room - hundredths(remainder)
		}
		room, more = with, more-len(e.tools)
	}
	return entries, "", room
}

func others(servers, tools int) string {
	if servers == 0 {
		return ""
	}
	return fmt.Sprintf("- %s with %s\n", display.Plural(servers, "more server"), display.Plural(tools, "tool"))
}

// entry is an object's entry in the index.
type entry struct {
	*object
	title string
	text  string
}

func newEntry(o *object) *entry {
	e := &entry{object: o, title: "- " + o.name + ", " + display.Plural(len(o.tools), "tool")}
	if o.name == "" {
		e.title = "- " + display.Plural(len(o.tools), "global function")
	}
	e.text = e.title + "\n"
	return e
}

// compare puts the host's own functions first and then the largest servers.
func (e *entry) compare(other *entry) int {
	if e.name == "" || other.name == "" {
		return strings.Compare(e.name, other.name)
	}
	return cmp.Compare(len(other.tools), len(e.tools))
}

// replace replaces an entry's text if there is room, and returns the room left.
func (e *entry) replace(text string, room int) int {
	room += hundredths(e.text) - hundredths(text)
	if room < 0 {
		return room + hundredths(text) - hundredths(e.text)
	}
	e.text = text
	return room
}

// names lists the tools by name, with read-only tools separate.
func (e *entry) names() string {
	var reads, rest []string
	for _, t := range e.tools {
		if t.reads() {
			reads = append(reads, t.Names[0])
		} else {
			rest = append(rest, t.Names[0])
		}
	}
	switch {
	case len(reads) == 0:
		return e.title + ": " + inFamilies(rest) + "\n"
	case len(rest) == 0:
		return e.title + ", all read-only: " + inFamilies(reads) + "\n"
	default:
		return e.title + "\n  - read-only: " + inFamilies(reads) + "\n  - may change data" + e.undeclared() + ": " +
			inFamilies(rest) + "\n"
	}
}

// undeclared returns a remark if some tools' class is unknown.
func (e *entry) undeclared() string {
	if slices.ContainsFunc(e.tools, func(t *tool) bool { return t.ReplayClass() == tools.Unclassified }) {
		return ", or not declared"
	}
	return ""
}

// inFamilies lists families of names, and the names that are in no family.
func inFamilies(names []string) string {
	var list []string
	for _, f := range families(names) {
		if len(f) == 1 {
			list = append(list, f[0]...)
		} else {
			list = append(list, f.String())
		}
	}
	return strings.Join(list, ", ")
}

// words lists the most frequent words in the tool names.
func (e *entry) words() string {
	count := map[string]int{}
	for _, t := range e.tools {
		for word, rest := cutWord(t.Names[0]); word != ""; word, rest = cutWord(rest) {
			count[strings.ToLower(strings.Trim(word, "_"))]++
		}
	}
	delete(count, "")
	list := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	end := ""
	if len(list) > maxFrequent {
		list, end = list[:maxFrequent], ", …"
	}
	return e.title + ", with the words " + strings.Join(list, ", ") + end + "\n"
}
