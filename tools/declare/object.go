package declare

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// object is a namespace with its tools in the order of the set.
type object struct {
	name  string // "" for the global functions
	tools []*tool
}

// tool is a tool whose schemas are compiled when they are first needed, since only a
// few of thousands of tools may be declared in full.
type tool struct {
	*tools.Binding
	compiled bool
	in, out  *schema.Schema // nil if unknown
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
		if absent(t.OutputSchema) {
			t.out = compile(t.Learned)
		}
	}
}

// optional reports whether the argument may be left out.
func (t *tool) optional() bool { return len(t.Check([]byte(`{}`), nil)) == 0 }

func group(bindings []*tools.Binding) []*object {
	var list []*object
	byName := map[string]*object{}
	for _, b := range bindings {
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

// compile compiles a schema, and returns nil if it is missing or invalid.
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

// mixed reports whether the result may be text or other content: the tool belongs to a server, and neither declares an
// output schema nor has learned results.
func (t *tool) mixed() bool { return t.Namespace != "" && absent(t.OutputSchema) && t.Learned == nil }

// types returns the types that the objects' declarations refer to.
func types(objects []*object) string {
	for _, o := range objects {
		if slices.ContainsFunc(o.tools, (*tool).mixed) {
			return toolError + content
		}
	}
	return toolError
}

// member returns the tool's name in its object's declaration.
func (t *tool) member() string {
	if t.Names[0] == "new" { // without quotes, it would declare a constructor
		return `"new"`
	}
	return t.Names[0]
}
