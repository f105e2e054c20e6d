package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/search"
)

const describeInput = `{
  "type": "object",
  "properties": {"name": {"type": ["string", "array"], "items": {"type": "string"}, "minItems": 1, "maxItems": 50}},
  "required": ["name"],
  "additionalProperties": false
}`

type describeArgs struct {
	Name names `json:"name"`
}

// names is one name or several.
type names []string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *names) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), "[") {
		return json.Unmarshal(text, (*[]string)(n))
	}
	*n = names{""}
	return json.Unmarshal(text, &(*n)[0])
}

// describe declares the tools that are named, those of a family such as
// erp.{get,list}_order included, and lists those of the servers that are named. What
// begins the names of several tools stands for a list of them. It is an error only if it
// knows none of the names.
func (d *Discovery) describe(_ context.Context, in describeArgs) (string, error) {
	var declared []*tools.Binding
	var lists []list
	var remarks string
	var unknown error
	all, ok := d.expand(in.Name)
	if !ok {
		remarks = comment(fmt.Sprintf("the names stand for more than %d tools; the rest is left out", maxNames))
	}
	for _, name := range all {
		b, server := d.near(name)
		switch {
		case b != nil:
			if d.Tool(name) == nil {
				remarks += comment(fmt.Sprintf("there is no tool %q; the nearest is %s", shorten(name, 100), b.Path()))
			}
			if !slices.Contains(declared, b) {
				declared = append(declared, b)
			}
		case server != "":
			tools := d.server(server)
			lists = append(lists, list{fmt.Sprintf("%s has %s:", server, plural(len(tools), "tool")), d.finding(server), tools})
		case len(d.beginning(name)) > 1:
			tools := d.beginning(name)
			title := fmt.Sprintf("there are %d tools whose names begin with %q:", len(tools), shorten(name, 100))
			lists = append(lists, list{schema.OneLine(title), d.finding(""), tools})
		default:
			unknown = d.Unknown("tool or server", name)
			remarks += comment(unknown.Error())
		}
	}
	if len(declared) == 0 && len(lists) == 0 {
		return "", unknown
	}
	text := cut(remarks+declare.Describe(declared...), d.most, "the rest is left out")
	for _, l := range lists {
		text += l.text(d.most - len(text))
	}
	return text, nil
}

func comment(text string) string { return "// " + schema.OneLine(text) + "\n" }

// list is several tools that a name stands for.
type list struct {
	title   string
	finding string // how to find more of them
	tools   []*tools.Binding
}

// maxList is how many bytes a list may have that says what each tool does.
const maxList = 4000

// text lists the tools, each with what it does if that is not too long, in about most
// bytes.
func (l list) text(most int) string {
	var text strings.Builder
	text.WriteString(l.title + "\n")
	for _, b := range l.tools {
		text.WriteString(b.Path())
		if declare.ReadOnly(b) {
			text.WriteString(" (read-only)")
		}
		if summary := search.Summary(b.Description); summary != "" {
			text.WriteString(": " + summary)
		}
		text.WriteByte('\n')
	}
	if text.Len() <= maxList {
		return cut(text.String(), most, "there are more: "+l.finding)
	}
	return cut(l.title+"\n"+declare.Names(l.tools...), most, "there are more: "+l.finding)
}

// cut ends a text that is longer than most, after a line if it has short ones, and
// says so.
func cut(text string, most int, remark string) string {
	if len(text) <= most {
		return text
	}
	most = max(most, 0)
	text = shorten(text, most)
	if end := strings.LastIndexByte(text, '\n'); end >= most/2 {
		text = text[:end]
	}
	return text + "\n// " + remark + "\n"
}
