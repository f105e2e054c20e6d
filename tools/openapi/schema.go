package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// schemas converts the schemas of a document to JSON Schemas: those of requests, or those of responses.
type schemas struct {
	request    bool
	siblings   bool // the keywords next to a $ref apply, as from version 3.1
	components openapi3.Schemas
	converted  map[string]*converted // components by name
	work       int                   // the size in bytes of all JSON that was converted
}

// converted is a JSON Schema, and the names of the components to which it refers.
type converted struct {
	value any
	refs  []string
	size  int // of a component's JSON
}

func newSchemas(doc *openapi3.T, request bool) *schemas {
	s := &schemas{request: request, siblings: doc.IsOpenAPI31OrLater(), converted: map[string]*converted{}}
	if doc.Components != nil {
		s.components = doc.Components.Schemas
	}
	return s
}

// of converts a schema. If it is nil or cannot be converted, the result accepts any value.
func (s *schemas) of(ref *openapi3.SchemaRef) *converted {
	c := &converted{value: map[string]any{}}
	if ref == nil {
		return c
	}
	if raw, err := json.Marshal(ref); err == nil {
		s.work += len(raw)
		if doc, err := jsonvalue.Decode(raw, 2*limits.Depth, false); err == nil {
			c.value, c.size = s.convert(doc.Value, &c.refs), len(raw)
		}
	}
	return c
}

// maxSchema is the maximum size of the definitions of one schema in bytes. A reference to a definition that does not
// fit accepts any value: in large APIs, almost every schema refers to most of the others.
const maxSchema = 32 << 10

// complete returns a schema with the definitions to which it refers.
func (s *schemas) complete(c *converted) json.RawMessage {
	object, ok := c.value.(map[string]any)
	definitions, size := map[string]any{}, 0
	for names := c.refs; ok && len(names) > 0; { // the nearest definitions first
		var next []string
		for _, name := range names {
			if definitions[name] != nil {
				continue
			}
			def := s.converted[name]
			if def == nil {
				def = s.of(s.components[name])
				s.converted[name] = def
			}
			if definitions[name] = (map[string]any{}); size+def.size <= maxSchema && def.value != nil {
				definitions[name] = def.value
				size += def.size
				next = append(next, def.refs...)
			}
		}
		names = next
	}
	if len(definitions) > 0 {
		object = maps.Clone(object)
		object["$defs"] = definitions
		return json.RawMessage(jsonvalue.Text(object))
	}
	return json.RawMessage(jsonvalue.Text(c.value))
}

// dropped are keywords without meaning for a tool. A default is part of the description: if it were sent, it would
// overwrite what is there in an update.
var dropped = []string{
	"default", "deprecated", "discriminator", "example", "examples", "externalDocs", "readOnly", "title", "writeOnly",
	"xml", "$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$schema",
}

// convert converts a decoded schema, or a list of schemas, and adds the names of components to refs.
func (s *schemas) convert(value any, refs *[]string) any {
	if list, ok := value.([]any); ok {
		list = slices.Clone(list)
		for i := range list {
			list[i] = s.convert(list[i], refs)
		}
		return list
	}
	in, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		v := in[key]
		_, flag := v.(bool)
		switch {
		case flag && strings.HasPrefix(key, "exclusive"): // of version 3.0, not of JSON Schema
		case slices.Contains(dropped, key), strings.HasPrefix(key, "x-"):
		case key == "$ref":
			name, ok := strings.CutPrefix(jsonvalue.Text(v), `"#/components/schemas/`)
			if name = strings.TrimSuffix(name, `"`); ok && s.components[name] != nil {
				*refs = append(*refs, name)
				out[key] = "#/$defs/" + name
			}
			if !s.siblings {
				return out
			}
		case key == "properties", key == "patternProperties", key == "dependentSchemas":
			out[key] = s.members(v, in, refs)
		case key == "enum", key == "const", key == "required", key == "dependentRequired":
			out[key] = v
		default:
			out[key] = s.convert(v, refs)
		}
	}
	text, _ := in["description"].(string)
	if d := in["default"]; d != nil && len(jsonvalue.Text(d)) <= 60 {
		text = strings.TrimSpace(text + " Default: " + jsonvalue.Text(d) + ".")
	}
	if delete(out, "description"); text != "" {
		out["description"] = display.Cut(text, maxDescription)
	}
	return out
}

// maxDescription is the maximum size of a description within a schema in bytes.
const maxDescription = 600

// members converts the schemas of an owner's members, except those that do not occur in this direction.
func (s *schemas) members(value any, owner map[string]any, refs *[]string) any {
	in, _ := value.(map[string]any)
	out, absent := map[string]any{}, "writeOnly"
	if s.request {
		absent = "readOnly"
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if sub, ok := in[name].(map[string]any); !ok || sub[absent] != true {
			out[name] = s.convert(in[name], refs)
		} else if required, ok := owner["required"].([]any); ok {
			owner["required"] = slices.DeleteFunc(required, func(r any) bool { return r == name })
		}
	}
	return out
}
