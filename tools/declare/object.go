package declare

import (
	"bytes"
	"encoding/json"
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

// tool is a tool whose schemas are compiled when they are first needed, for of
// thousands of tools only few may be declared in full.
type tool struct {
	*tools.Binding
	compiled bool
	in, out  *schema.Schema // nil: unknown
}

func (t *tool) input() *schema.Schema {
	t.compile()
	return t.in
}

func (t *tool) output() *schema.Schema {
	t.compile()
	return t.out
}

func (t *tool) compile() {
	if !t.compiled {
		t.in, t.out, t.compiled = compile(t.InputSchema), compile(t.OutputSchema), true
	}
}

// optional reports whether the argument may be left out.
func (t *tool) optional() bool { return len(t.Check([]byte(`{}`), nil)) == 0 }

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
		o.tools = append(o.tools, &tool{Binding: b})
	}
	return list
}

// compile returns nil for a schema that is not there or cannot be read.
func compile(raw json.RawMessage) *schema.Schema {
	if absent(raw) {
		return nil
	}
	s, err := schema.Loosely(raw).Schema()
	if err != nil {
		return nil
	}
	return s
}

func absent(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// mixed reports whether the result may be text or other content: where
// nothing is declared of a tool that comes from elsewhere.
func (t *tool) mixed() bool { return t.Namespace != "" && absent(t.OutputSchema) }

// member is how the tool is declared within its object: by its own name if that
// is what a program should write.
func (t *tool) member() string {
	own := t.Names[len(t.Names)-1]
	if own == "new" { // would declare what a constructor makes
		return `"new"`
	}
	invisible := func(r rune) bool { return !unicode.IsPrint(r) }
	if len(t.Names) == 1 || strings.ContainsFunc(own, invisible) {
		return t.Names[0]
	}
	quoted, _ := json.Marshal(own) // a string always encodes
	return strings.NewReplacer("`", `\u0060`, "~", `\u007e`).Replace(string(quoted))
}
