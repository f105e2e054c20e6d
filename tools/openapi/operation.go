package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/origin"
)

// operation is one operation of the document.
type operation struct {
	api       *API
	method    string
	base      *url.URL
	path      string // the template
	arguments []*argument
	body      *body  // nil if the operation has none
	idKey     string // the header for an idempotency key, or ""
	accept    string
	result    kind // kindOther if the document does not describe the result
}

// bindAll makes a tool for each operation, in the order of the paths.
func (a *API) bindAll(doc *openapi3.T) {
	b := &binder{API: a, requests: newSchemas(doc, true), responses: newSchemas(doc, false)}
	taken, last, reasons := map[string]bool{}, map[string]int{}, map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		if item == nil {
			continue
		}
		for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
			t, err := b.tool(item, method, path)
			if err != nil {
				reasons[err.Error()] = append(reasons[err.Error()], method+" "+path)
				continue
			}
			name := t.Name
			for taken[t.Name] {
				last[name] = max(last[name], 1) + 1
				t.Name = fmt.Sprintf("%s_%d", name, last[name])
			}
			if taken[t.Name] = true; t.Name != name {
				const renamed = "%s: %s %s is called %s.%s, because another operation has its name"
				a.warnings = append(a.warnings, fmt.Sprintf(renamed, a.o.Name, method, path, t.Namespace, t.Name))
			}
			a.tools = append(a.tools, t)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		a.warnings = append(a.warnings, fmt.Sprintf("%s: %s left out, because %s: %s", a.o.Name,
			display.Plural(len(reasons[reason]), "operation"), reason, strings.Join(reasons[reason], ", ")))
	}
}

// binder has what is needed only to make the tools.
type binder struct {
	*API
	requests, responses *schemas
	size                int // of the schemas of all tools in bytes
}

// maxSchemas limits the schemas of all tools, and what is read for them: many operations may copy one large parameter.
const maxSchemas = 256 << 20

// tool makes the tool for an operation. The error says why the operation cannot be a tool.
func (b *binder) tool(item *openapi3.PathItem, method, path string) (*tools.Tool, error) {
	if b.size+b.requests.work+b.responses.work > maxSchemas {
		return nil, fmt.Errorf("the schemas of the operations before it have more than %d bytes", maxSchemas)
	}
	op := item.GetOperation(method)
	hints := tools.Hints{Class: tools.Effect, Destructive: method == http.MethodDelete}
	switch method {
	case http.MethodGet, http.MethodHead:
		hints.Class = tools.Read
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return nil, fmt.Errorf("the method %s is not supported", method)
	}
	base, err := b.server(item, op)
	if err != nil {
		return nil, err
	}
	o := &operation{api: b.API, method: method, base: base, path: path}
	in := &input{schemas: b.requests, names: map[string]bool{}}
	if err := o.parameters(in, item, op); err != nil {
		return nil, err
	}
	switch r := op.RequestBody; {
	case r == nil || r.Value == nil:
	case hints.Class == tools.Read && r.Value.Required:
		return nil, fmt.Errorf("a body of %s is not supported", method)
	case hints.Class != tools.Read: // the optional body of a read has no meaning
		if o.body, err = in.body(r.Value); err != nil {
			return nil, err
		}
	}
	o.arguments = in.arguments
	t := &tools.Tool{
		Namespace: b.o.Name, Name: name(method, path, op), Description: description(method, path, op), Hints: hints,
		InputSchema: in.schema(), OutputSchema: o.output(op, b.responses), Handler: o.call,
	}
	b.size += len(t.InputSchema) + len(t.OutputSchema)
	return t, nil
}

// server returns the address of an operation. All operations have the same origin, to which credentials are sent.
func (b *binder) server(item *openapi3.PathItem, op *openapi3.Operation) (*url.URL, error) {
	servers := item.Servers
	if op.Servers != nil && len(*op.Servers) > 0 {
		servers = *op.Servers
	}
	switch {
	case b.o.BaseURL != "", len(servers) == 0 && b.base != nil:
		return b.base, nil
	case len(servers) == 0:
		return nil, errors.New("the document names no server; set Options.BaseURL")
	}
	own, err := address(servers)
	if err != nil {
		return nil, errors.New("the server's address cannot be used")
	}
	if b.base = cmp.Or(b.base, own); !origin.Same(own, b.base) {
		return nil, fmt.Errorf("the server is %s://%s, and not that of the API", own.Scheme, own.Host)
	}
	return own, nil
}

// name returns the name of an operation's tool, which begins with the tag. All tools of an API have one namespace,
// since an effect of one may change what another one reads.
func name(method, path string, op *openapi3.Operation) string {
	name := tidy(cmp.Or(op.OperationID, strings.ToLower(method)+strings.NewReplacer("{", "", "}", "").Replace(path)))
	if len(op.Tags) == 0 || op.Tags[0] == "" {
		return name
	}
	tag := tidy(op.Tags[0]) + "_"
	if n := len(tag); len(name) > n && strings.EqualFold(name[:n], tag) {
		name = name[n:]
	}
	return tag + name
}

// tidy returns an identifier without underscores at its ends, or several in a row.
func tidy(text string) string {
	parts := strings.FieldsFunc(jsonvalue.Identifier(text), func(r rune) bool { return r == '_' })
	return jsonvalue.Identifier(strings.Join(parts, "_"))
}

// maxText is the maximum size of a tool's description in bytes.
const maxText = 4 << 10

func description(method, path string, op *openapi3.Operation) string {
	text := strings.TrimSpace(op.Description)
	if summary := strings.TrimSpace(op.Summary); summary != "" && !strings.HasPrefix(text, summary) {
		text = strings.TrimSuffix(summary, ".") + ".\n" + text
	}
	return strings.TrimSpace(display.Cut(strings.TrimSpace(text), maxText) + "\n" + method + " " + path)
}

// output determines the kind of an operation's results, and returns their schema: that of the successful responses.
func (o *operation) output(op *openapi3.Operation, s *schemas) json.RawMessage {
	o.accept = "*/*"
	responses := op.Responses.Map()
	statuses := slices.DeleteFunc(slices.Sorted(maps.Keys(responses)), func(status string) bool {
		return !strings.HasPrefix(status, "2")
	})
	if len(statuses) == 0 {
		statuses = []string{"default"}
	}
	all, list := &converted{}, []any(nil)
	for _, status := range statuses {
		r := responses[status]
		if r == nil || r.Value == nil || len(r.Value.Content) == 0 && status != "204" && o.method != http.MethodHead {
			return json.RawMessage(`{}`) // many documents do not describe the content
		}
		var value any = map[string]any{"type": "null"}
		switch k, mediaType, media := choose(r.Value.Content); {
		case o.method == http.MethodHead, status == "204":
		case k == kindJSON:
			c := s.of(media.Schema)
			o.result, o.accept, all.refs, value = kindJSON, mediaType, append(all.refs, c.refs...), c.value
		default:
			o.result, value = max(o.result, kindText), map[string]any{"type": "string"}
		}
		if !slices.ContainsFunc(list, func(v any) bool { return jsonvalue.Text(v) == jsonvalue.Text(value) }) {
			list = append(list, value)
		}
	}
	if all.value = list[0]; len(list) > 1 {
		all.value = map[string]any{"anyOf": list}
	}
	return s.complete(all)
}

// kind says how the content of a message is written.
type kind int

const (
	kindOther kind = iota
	kindText
	kindForm
	kindJSON
)

// preferences are the media types that are used, the preferred first.
var preferences = []struct {
	pattern string
	kind    kind
}{
	{"application/json", kindJSON}, {"[*]/[*]", kindJSON}, {"application/merge-patch+json", kindJSON},
	{"*/*+json", kindJSON}, {"text/json", kindJSON},
	{"application/x-www-form-urlencoded", kindForm}, {"text/*", kindText},
}

// choose returns the media type of a message that is used.
func choose(content openapi3.Content) (kind, string, *openapi3.MediaType) {
	for _, p := range preferences {
		for _, mediaType := range slices.Sorted(maps.Keys(content)) {
			name, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
			if ok, _ := path.Match(p.pattern, strings.TrimSpace(name)); ok && content[mediaType] != nil {
				return p.kind, strings.ReplaceAll(mediaType, "*/*", "application/json"), content[mediaType]
			}
		}
	}
	return kindOther, "", nil
}
