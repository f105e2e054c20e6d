package conversationtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools"
)

// set returns the tools of the world: six for each kind of record. As with real servers, the form
// of the results differs between the four servers.
func (w *world) set(ctx context.Context) (*tools.Set, error) {
	var sources []tools.Source
	for _, e := range w.entities {
		for _, t := range w.tools(e) {
			sources = append(sources, t)
		}
	}
	return tools.NewSet(ctx, sources...)
}

// args has the arguments of all tools.
type args struct {
	ID     string         `json:"id"`
	Query  string         `json:"query"`
	Cursor string         `json:"cursor"`
	Page   int            `json:"page"`
	Offset int            `json:"offset"`
	Fields map[string]any `json:"-"`
}

// tool describes one of the tools for a kind of record.
type tool struct {
	name, description string
	input, output     string // the properties of the arguments, and the schema of the result
	class             tools.Class
	do                func(args) (any, error)
}

func (w *world) tools(e *entity) []*tools.Tool {
	name, names := strings.ReplaceAll(e.name, "_", " "), strings.ReplaceAll(e.plural, "_", " ")
	const id = `!"id":{"type":"string"}`
	one, page := e.schema(), pagings[e.server]
	list := `{"type":"array","items":` + one + `}`
	var made []*tools.Tool
	for _, t := range []tool{
		{"list_" + e.plural, "List " + names + page.about, page.input + e.properties(true),
			strings.ReplaceAll(page.output, "ONE", one), tools.Read,
			func(a args) (any, error) { return page.cut(e, w.found(e, a), a) }},
		{"get_" + e.name, "Get one " + name + ".", id, one, tools.Read, func(a args) (any, error) { return w.one(e, a.ID) }},
		{"search_" + e.plural, "Find " + names + " that contain a text.", `!"query":{"type":"string"}`, list, tools.Read,
			func(a args) (any, error) { return w.search(e, a.Query), nil }},
		{"create_" + e.name, "Create one " + name + ".", e.properties(false), one, tools.Effect,
			func(a args) (any, error) { return w.create(e, a), nil }},
		{"update_" + e.name, "Update fields of one " + name + ".", id + "," + e.properties(true), one, tools.Effect,
			func(a args) (any, error) { return w.update(e, a) }},
		{"delete_" + e.name, "Delete one " + name + ".", id, one, tools.Effect,
			func(a args) (any, error) { return w.remove(e, a.ID) }},
	} {
		made = append(made, w.tool(e, t))
	}
	return made
}

// tool returns the tool with a description.
func (w *world) tool(e *entity, t tool) *tools.Tool {
	made := &tools.Tool{
		Namespace: e.server, Name: t.name, Description: t.description, InputSchema: object(t.input),
		Hints:   tools.Hints{Class: t.class, ErrorsAreFinal: true},
		Claimed: claimed(t.class == tools.Read),
		Handler: func(_ context.Context, raw json.RawMessage) (json.RawMessage, error) {
			var a args
			if err := json.Unmarshal(raw, &a); err != nil {
				return nil, err
			}
			if err := json.Unmarshal(raw, &a.Fields); err != nil {
				return nil, err
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			result, err := t.do(a)
			if err != nil {
				return nil, err
			}
			if t.class != tools.Read {
				w.called[e.server+"."+t.name]++
			}
			return e.result(result), nil
		},
	}
	if t.output != "" && e.structured() {
		made.OutputSchema = json.RawMessage(t.output)
	}
	return made
}

// found returns the records that match the arguments.
func (w *world) found(e *entity, a args) []record {
	return where(w.records[e.name], func(r record) bool {
		for _, f := range e.fields {
			if v, ok := a.Fields[f.name]; ok && fmt.Sprint(v) != fmt.Sprint(r[f.name]) {
				return false
			}
		}
		return true
	})
}

func (w *world) search(e *entity, query string) []record {
	return where(w.records[e.name], func(r record) bool {
		return strings.Contains(strings.ToLower(e.line(r)), strings.ToLower(query))
	})
}

func (w *world) create(e *entity, a args) record {
	r := record{"id": e.id(len(w.records[e.name]) + 1)}
	w.records[e.name] = append(w.records[e.name], r)
	return e.set(r, a)
}

// update changes a record, unless it is closed and remains closed.
func (w *world) update(e *entity, a args) (record, error) {
	r, err := w.one(e, a.ID)
	if err != nil {
		return nil, err
	}
	if _, reopened := a.Fields["status"]; r["status"] == "closed" && !reopened {
		return nil, fmt.Errorf("%s is closed; set its status to open first, in a call of its own", a.ID)
	}
	return e.set(r, a), nil
}

func (w *world) remove(e *entity, id string) (record, error) {
	r, err := w.one(e, id)
	w.records[e.name] = slices.DeleteFunc(w.records[e.name], func(r record) bool { return r["id"] == id })
	return r, err
}

func (w *world) one(e *entity, id string) (record, error) {
	if r := w.get(e.name, id); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("no %s %q; ids are like %s", strings.ReplaceAll(e.name, "_", " "), id, e.id(1))
}

// set sets fields of a record.
func (e *entity) set(r record, a args) record {
	for _, f := range e.fields {
		if v, ok := a.Fields[f.name]; ok {
			if n, isNumber := v.(float64); isNumber {
				v = int(n)
			}
			r[f.name] = v
		}
	}
	return r
}

// paging describes how a server returns long lists.
type paging struct {
	about, input, output string // ONE in the output stands for the schema of a record
	cut                  func(*entity, []record, args) (any, error)
}

var pagings = map[string]paging{
	"fleet": {
		", in pages of 20.", `"cursor":{"type":"string","description":"From the page before."},`,
		`{"type":"object","properties":{"items":{"type":"array","items":ONE},` +
			`"next_cursor":{"type":"string","description":"Absent on the last page."}},"required":["items"]}`,
		func(_ *entity, all []record, a args) (any, error) {
			from := 0
			if a.Cursor != "" {
				if _, err := fmt.Sscanf(a.Cursor, "c%d", &from); err != nil {
					return nil, fmt.Errorf("the cursor %q is not from an earlier page", a.Cursor)
				}
			}
			result := map[string]any{"items": part(all, from)}
			if from+perPage < len(all) {
				result["next_cursor"] = fmt.Sprintf("c%d", from+perPage)
			}
			return result, nil
		},
	},
	"facilities": {
		" as JSON, in pages of 20.", `"page":{"type":"integer","description":"From 1."},`, "",
		func(_ *entity, all []record, a args) (any, error) {
			page := max(a.Page, 1)
			rows := part(all, perPage*(page-1))
			return map[string]any{"data": rows, "page": page, "pages": (len(all) + perPage - 1) / perPage}, nil
		},
	},
	"erp": {
		", 20 at a time.", `"offset":{"type":"integer"},`,
		`{"type":"object","properties":{"rows":{"type":"array","items":ONE},"total":{"type":"integer"}},` +
			`"required":["rows","total"]}`,
		func(_ *entity, all []record, a args) (any, error) {
			return map[string]any{"rows": part(all, a.Offset), "total": len(all)}, nil
		},
	},
	"office": {
		", one per line.", "", "",
		func(e *entity, all []record, _ args) (any, error) {
			lines := []string{"id | " + strings.Join(e.names(), " | ")}
			for _, r := range all {
				lines = append(lines, e.line(r))
			}
			return strings.Join(lines, "\n"), nil
		},
	},
}

const perPage = 20

func part(all []record, from int) []record {
	return all[min(from, len(all)):min(from+perPage, len(all))]
}

// structured reports whether the server declares output schemas. The other servers return text.
func (e *entity) structured() bool { return e.server == "fleet" || e.server == "erp" }

func (e *entity) result(v any) json.RawMessage {
	raw := marshal(v)
	if _, isText := v.(string); isText || e.structured() {
		return raw
	}
	return marshal(string(raw))
}

func (e *entity) names() []string {
	var names []string
	for _, f := range e.fields {
		names = append(names, f.name)
	}
	return names
}

// schema returns the schema of a record.
func (e *entity) schema() string {
	return string(object(`!"id":{"type":"string"},` + e.properties(false)))
}

// properties returns the fields as properties of a schema. A ! marks required ones.
func (e *entity) properties(optional bool) string {
	var list []string
	for _, f := range e.fields {
		kind := `{"type":"string"}`
		switch {
		case strings.Contains(f.holds, ".."):
			kind = `{"type":"integer"}`
		case strings.Contains(f.holds, "|"):
			values := strings.Split(f.holds, "|")
			kind = `{"type":"string","enum":` + string(marshal(slices.Compact(values))) + `}`
		}
		required := "!"
		if optional {
			required = ""
		}
		list = append(list, fmt.Sprintf(`%s%q:%s`, required, f.name, kind))
	}
	return strings.Join(list, ",")
}

// object returns the schema of an object with the properties. Those marked by ! are required.
func object(properties string) json.RawMessage {
	var required []string
	for _, part := range strings.Split(properties, `!"`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		required = append(required, name)
	}
	text := `{"type":"object","properties":{` + strings.TrimSuffix(strings.ReplaceAll(properties, `!"`, `"`), ",") + `}`
	if len(required) > 0 {
		text += `,"required":` + string(marshal(required))
	}
	return json.RawMessage(text + `,"additionalProperties":false}`)
}

// claimed returns the class that a server claims with the annotation readOnlyHint.
func claimed(readOnly bool) tools.Class {
	if readOnly {
		return tools.Read
	}
	return tools.Unclassified
}
