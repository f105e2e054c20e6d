package declare

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// object is a namespace with its tools, in the order of the set.
type object struct {
	name  string // "" for the global functions
	tools []*tool
}

func (o *object) hasBlocks() bool { return slices.ContainsFunc(o.tools, (*tool).hasBlocks) }

// tool is a tool with what is the same in all levels.
type tool struct {
	*tools.Binding
	comment       string
	input, output *schema.Schema // nil: unknown
	optional      bool           // the argument may be left out
}

func group(set *tools.Set) []*object {
	var list []*object
	byName := map[string]*object{}
	for _, b := range set.Bindings() {
		o := byName[b.Object]
		if o == nil {
			o = &object{name: b.Object}
			byName[b.Object] = o
			list = append(list, o)
		}
		o.tools = append(o.tools, prepare(b))
	}
	return list
}

func prepare(b *tools.Binding) *tool {
	return &tool{
		Binding: b, comment: schema.Comment(b.Description),
		input: compile(b.InputSchema), output: compile(b.OutputSchema),
		optional: len(b.Check([]byte(`{}`), nil)) == 0,
	}
}

// compile returns nil for a schema that is not there or does not compile.
func compile(raw json.RawMessage) *schema.Schema {
	if absent(raw) {
		return nil
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil
	}
	return s
}

func absent(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// hasBlocks reports whether the result may be text or blocks of content: where
// nothing is declared of a tool that comes from elsewhere.
func (t *tool) hasBlocks() bool { return t.Namespace != "" && absent(t.OutputSchema) }

// member is how the tool is declared within its object: by its own name if that
// is what a program should write.
func (t *tool) member() string {
	own := t.Names[len(t.Names)-1]
	invisible := func(r rune) bool { return !unicode.IsPrint(r) }
	if len(t.Names) == 1 || strings.ContainsFunc(own, invisible) {
		return t.Names[0]
	}
	quoted, _ := json.Marshal(own) // a string always encodes
	return strings.ReplaceAll(string(quoted), "`", `\u0060`)
}
