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

// describe declares the tools that are named and lists those of the servers that are
// named. It is an error only if it knows none of the names.
func (d *Discovery) describe(_ context.Context, in describeArgs) (string, error) {
	var declared []*tools.Binding
	var servers []string
	var remarks string
	var unknown error
	for _, name := range in.Name {
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
			servers = append(servers, server)
		default:
			unknown = d.Unknown("tool or server", name)
			remarks += comment(unknown.Error())
		}
	}
	if len(declared) == 0 && len(servers) == 0 {
		return "", unknown
	}
	text := cut(remarks+declare.Describe(declared...), d.most, "the rest is left out")
	for _, server := range servers {
		text += d.list(server, d.most-len(text))
	}
	return text, nil
}

func comment(text string) string { return "// " + schema.Harmless(text) + "\n" }

// list is the tools of a server, each with what it does, in about most bytes.
func (d *Discovery) list(server string, most int) string {
	list := d.server(server)
	var text strings.Builder
	fmt.Fprintf(&text, "%s has %s:\n", list[0].Object, plural(len(list), "tool"))
	for _, b := range list {
		text.WriteString(b.Path())
		if summary := search.Summary(b.Description); summary != "" {
			text.WriteString(": " + summary)
		}
		text.WriteByte('\n')
	}
	return cut(text.String(), most, "there are more: "+d.finding(list[0].Object))
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
