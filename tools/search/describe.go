package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

const describeInput = `{
  "type": "object",
  "properties": {"name": {"type": ["string", "array"], "items": {"type": "string"}, "minItems": 1, "maxItems": 50}},
  "required": ["name"],
  "additionalProperties": false
}`

type describeArgs struct {
	Name Names `json:"name"`
}

// Names are one or more names. Their JSON is a string or an array.
type Names []string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Names) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), "[") {
		return json.Unmarshal(text, (*[]string)(n))
	}
	*n = Names{""}
	return json.Unmarshal(text, &(*n)[0])
}

// Describe declares the named tools in full. For a family of names such as erp.{get,list}_order, it declares each tool.
// For a server, or a prefix of several names, it lists the tools. Describe returns an error only if all names are
// unknown.
func (d *Index) Describe(names ...string) (string, error) {
	var declared []*tools.Binding
	var lists []list
	var remarks string
	var unknown error
	all, ok := d.expand(names)
	if !ok {
		remarks = comment(fmt.Sprintf("there are more than %d names; the others are left out", maxNames))
	}
	for _, name := range all {
		b, server := d.near(name)
		switch {
		case b != nil:
			if d.Tool(name) == nil {
				remarks += comment(fmt.Sprintf("there is no tool %q; the nearest is %s",
					display.Cut(name, 100), b.Path()))
			}
			if !slices.Contains(declared, b) {
				declared = append(declared, b)
			}
		case server != "":
			tools := d.server(server)
			title := fmt.Sprintf("%s has %s:", server, display.Plural(len(tools), "tool"))
			lists = append(lists, list{title, d.howToSearch(server), tools})
		case len(d.withPrefix(name)) > 1:
			tools := d.withPrefix(name)
			title := fmt.Sprintf("there are %d tools whose names begin with %q:", len(tools), display.Cut(name, 100))
			lists = append(lists, list{display.OneLine(title), d.howToSearch(""), tools})
		default:
			unknown = d.Unknown("tool or server", name)
			remarks += comment(unknown.Error())
		}
	}
	if len(declared) == 0 && len(lists) == 0 {
		return "", unknown
	}
	text := cut(remarks+declare.Describe(declared...), d.maxText, "the rest is left out")
	for _, l := range lists {
		text += l.text(d.maxText - len(text))
	}
	return text, nil
}

func comment(text string) string { return "// " + display.OneLine(text) + "\n" }

// list is a list of the tools that one name matches.
type list struct {
	title       string
	howToSearch string
	tools       []*tools.Binding
}

// maxList is the maximum size of a list with descriptions, in bytes. Longer lists have only
// names.
const maxList = 4000

// text lists the tools in at most about limit bytes. It includes their descriptions if the list then has at
// most maxList bytes.
func (l list) text(limit int) string {
	var text strings.Builder
	text.WriteString(l.title + "\n")
	for _, b := range l.tools {
		text.WriteString(b.Path())
		if declare.ReadOnly(b) {
			text.WriteString(" (read-only)")
		}
		if summary := Summary(b.Description); summary != "" {
			text.WriteString(": " + summary)
		}
		text.WriteByte('\n')
	}
	if text.Len() <= maxList {
		return cut(text.String(), limit, "there are more: "+l.howToSearch)
	}
	return cut(l.title+"\n"+declare.Names(l.tools...), limit, "there are more: "+l.howToSearch)
}

// cut returns text unchanged if it has at most limit bytes. Otherwise, it cuts the text, if
// possible at the end of a line, and appends the remark.
func cut(text string, limit int, remark string) string {
	if len(text) <= limit {
		return text
	}
	limit = max(limit, 0)
	text = display.Cut(text, limit)
	if end := strings.LastIndexByte(text, '\n'); end >= limit/2 {
		text = text[:end]
	}
	return text + "\n// " + remark + "\n"
}
