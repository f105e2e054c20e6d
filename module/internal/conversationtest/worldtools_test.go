package conversationtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools"
)

// set returns the tools of the world: six for each kind of records. The four servers return their
// results in different ways, as servers do.
func (w *world) set(ctx context.Context) (*tools.Set, error) {
	var sources []tools.Source
	for _, e := range w.entities {
		for _, t := range w.tools(e) {
			sources = append(sources, t)
		}
	}
	return tools.NewSet(ctx, sources...)
}

// args are the arguments of all tools.
type args struct {
	ID     string         `json:"id"`
	Query  string         `json:"query"`
	Cursor string         `json:"cursor"`
	Page   int            `json:"page"`
	Offset int            `json:"offset"`
	Fields map[string]any `json:"-"`
}

func (w *world) tools(e *entity) []*tools.Tool {
	readable := strings.ReplaceAll(e.name, "_", " ")
	list, page := w.list(e)
	make := func(name, description, input, output string, class tools.Class, do func(args) (any, error)) *tools.Tool {
		t := &tools.Tool{
			Namespace: e.server, Name: name, Description: description, InputSchema: object(input),
			Hints:  tools.Hints{Class: class, ErrorsAreFinal: true},
			Claims: tools.Claims{ReadOnly: class == tools.Read},
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
				result, err := do(a)
				if err != nil {
					return nil, err
				}
				if class != tools.Read {
					w.called[e.server+"."+name]++
				}
				return e.result(result), nil
			},
		}
		if output != "" && e.structured() {
			t.OutputSchema = json.RawMessage(output)
		}
		return t
	}
	plural := strings.ReplaceAll(e.plural, "_", " ")
	one := string(e.schema())
	return []*tools.Tool{
		make("list_"+e.plural, "List "+plural+page.about, page.input+e.properties(true), page.output(one), tools.Read, list),
		make("get_"+e.name, "Get one "+readable+".", `!"id":{"type":"string"}`, one, tools.Read, func(a args) (any, error) { return w.one(e, a.ID) }),
		make("search_"+e.plural, "Find "+plural+" that contain a text.", `!"query":{"type":"string"}`, `{"type":"array","items":`+one+`}`, tools.Read, func(a args) (any, error) {
			return where(w.records[e.name], func(r record) bool { return strings.Contains(strings.ToLower(e.line(r)), strings.ToLower(a.Query)) }), nil
		}),
		make("create_"+e.name, "Create a "+readable+".", e.properties(false), one, tools.Effect, func(a args) (any, error) {
			r := record{"id": e.id(len(w.records[e.name]) + 1)}
			return w.change(e, r, a, true)
		}),
		make("update_"+e.name, "Update fields of a "+readable+".", `!"id":{"type":"string"},`+e.properties(true), one, tools.Effect, func(a args) (any, error) {
			r, err := w.one(e, a.ID)
			if err != nil {
				return nil, err
			}
			if _, reopened := a.Fields["status"]; r["status"] == "closed" && !reopened {
				return nil, fmt.Errorf("%s is closed; set its status to open first, in a call of its own", a.ID)
			}
			return w.change(e, r, a, false)
		}),
		make("delete_"+e.name, "Delete a "+readable+".", `!"id":{"type":"string"}`, one, tools.Effect, func(a args) (any, error) {
			r, err := w.one(e, a.ID)
			w.records[e.name] = slices.DeleteFunc(w.records[e.name], func(r record) bool { return r["id"] == a.ID })
			return r, err
		}),
	}
}

func (w *world) one(e *entity, id string) (record, error) {
	if r := w.get(e.name, id); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("no %s %q; ids are like %s", strings.ReplaceAll(e.name, "_", " "), id, e.id(1))
}

// change sets fields of a record.
func (w *world) change(e *entity, r record, a args, created bool) (any, error) {
	for _, f := range e.fields {
		if v, ok := a.Fields[f.name]; ok {
			if n, isNumber := v.(float64); isNumber {
				v = int(n)
			}
			r[f.name] = v
		}
	}
	if created {
		w.records[e.name] = append(w.records[e.name], r)
	}
	return r, nil
}

// paging is how a server returns long lists.
type paging struct {
	about, input string
	output       func(one string) string
}

const perPage = 20

// list returns the tool that lists records, some at a time.
func (w *world) list(e *entity) (func(args) (any, error), paging) {
	found := func(a args) []record {
		return where(w.records[e.name], func(r record) bool {
			for _, f := range e.fields {
				if v, ok := a.Fields[f.name]; ok && fmt.Sprint(v) != fmt.Sprint(r[f.name]) {
					return false
				}
			}
			return true
		})
	}
	part := func(all []record, from int) []record { return all[min(from, len(all)):min(from+perPage, len(all))] }
	switch e.server {
	case "fleet":
		return func(a args) (any, error) {
				all, from := found(a), 0
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
			}, paging{", in pages of 20.", `"cursor":{"type":"string","description":"From the page before."},`, func(one string) string {
				return `{"type":"object","properties":{"items":{"type":"array","items":` + one + `},"next_cursor":{"type":"string","description":"Absent on the last page."}},"required":["items"]}`
			}}
	case "facilities":
		return func(a args) (any, error) {
			all, page := found(a), max(a.Page, 1)
			return map[string]any{"data": part(all, perPage*(page-1)), "page": page, "pages": (len(all) + perPage - 1) / perPage}, nil
		}, paging{" as JSON, in pages of 20.", `"page":{"type":"integer","description":"From 1."},`, func(string) string { return "" }}
	case "erp":
		return func(a args) (any, error) {
				all := found(a)
				return map[string]any{"rows": part(all, a.Offset), "total": len(all)}, nil
			}, paging{", 20 at a time.", `"offset":{"type":"integer"},`, func(one string) string {
				return `{"type":"object","properties":{"rows":{"type":"array","items":` + one + `},"total":{"type":"integer"}},"required":["rows","total"]}`
			}}
	}
	return func(a args) (any, error) {
		lines := []string{"id | " + strings.Join(e.names(), " | ")}
		for _, r := range found(a) {
			lines = append(lines, e.line(r))
		}
		return strings.Join(lines, "\n"), nil
	}, paging{", one per line.", "", func(string) string { return "" }}
}

// structured reports whether the server declares its results. The others return text.
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

// schema is that of a record.
func (e *entity) schema() json.RawMessage {
	return object(`!"id":{"type":"string"},` + e.properties(false))
}

// properties are the fields as properties of a schema, each required (which a ! before it says) or not.
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

// object is the schema of an object with properties, of which those with a ! are required.
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
