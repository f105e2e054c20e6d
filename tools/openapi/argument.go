package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// argument is one argument of a tool.
type argument struct {
	name  string // of the argument
	place string // path, query, header or body
	key   string // the name in the request
	style openapi3.SerializationMethod
}

// body is the body of an operation's requests.
type body struct {
	kind      kind
	mediaType string
	required  bool
	whole     bool // one argument is the body; otherwise the body's members are arguments
}

// input collects the arguments of an operation.
type input struct {
	*schemas
	names      map[string]bool
	arguments  []*argument
	properties []string // of the input schema
	required   []string
	refs       []string
}

// add adds an argument. If its name is taken, its place becomes part of the name.
func (in *input) add(a *argument, schema *openapi3.SchemaRef, text string, required bool) {
	a.name = a.key
	for in.names[a.name] {
		a.name = a.place + "_" + a.name
	}
	in.names[a.name] = true
	in.arguments = append(in.arguments, a)
	c := in.of(schema)
	if object, ok := c.value.(map[string]any); ok && text != "" && object["$ref"] == nil {
		own, _ := object["description"].(string)
		if _, d, ok := strings.Cut(own, "Default: "); ok {
			text = strings.TrimSpace(text) + " Default: " + d
		}
		object["description"] = display.Cut(text, maxDescription)
	}
	in.refs = append(in.refs, c.refs...)
	in.properties = append(in.properties, jsonvalue.Text(a.name)+":"+jsonvalue.Text(c.value))
	if required {
		in.required = append(in.required, a.name)
	}
}

// schema returns the schema of the arguments.
func (in *input) schema() json.RawMessage {
	value := map[string]any{
		"type": "object", "properties": json.RawMessage("{" + strings.Join(in.properties, ",") + "}"),
		"additionalProperties": false,
	}
	if len(in.required) > 0 {
		value["required"] = in.required
	}
	return in.complete(&converted{value: value, refs: in.refs})
}

// parameters adds the parameters of an operation and its path.
func (o *operation) parameters(in *input, item *openapi3.PathItem, op *openapi3.Operation) error {
	rest := o.path
	for _, place := range []string{"path", "query", "header"} { // a cookie is the host's
		for _, r := range slices.Concat(op.Parameters, item.Parameters) {
			same := func(a *argument) bool { return a.place == place && a.key == r.Value.Name }
			if r == nil || r.Value == nil || r.Value.In != place || slices.ContainsFunc(in.arguments, same) {
				continue // an operation may replace a parameter of its path
			}
			if err := o.parameter(in, r.Value); err != nil {
				return err
			}
			if place == "path" {
				rest = strings.ReplaceAll(rest, "{"+r.Value.Name+"}", "")
			}
		}
	}
	if strings.ContainsAny(rest, "{}?#") || climbs(o.path) {
		return errors.New("the path has a part that no parameter describes, or leads out of the API")
	}
	return nil
}

// parameter adds one parameter. Headers that belong to the host or to the protocol are left out.
func (o *operation) parameter(in *input, p *openapi3.Parameter) error {
	style, err := p.SerializationMethod()
	if err != nil || len(p.Content) > 0 || !slices.Contains([]string{"simple", "form", "deepObject"}, style.Style) {
		return fmt.Errorf("the style of a parameter is not supported: %s", cmp.Or(p.Style, "content"))
	}
	switch name := textproto.CanonicalMIMEHeaderKey(p.Name); {
	case p.In == "header" && name == "Idempotency-Key":
		o.idKey = name
	case p.In == "header" && ofHost(name), o.api.credentials[credential(p.In, p.Name)]:
	default:
		a := &argument{place: p.In, key: p.Name, style: *style}
		in.add(a, p.Schema, p.Description, p.Required || p.In == "path")
	}
	return nil
}

// ofHost reports whether programs must not set a header, because it has credentials, determines where the request goes
// or what it does, or belongs to the protocol.
func ofHost(name string) bool {
	return strings.HasPrefix(name, "Proxy-") || strings.HasPrefix(name, "X-Forwarded-") || slices.Contains([]string{
		"Accept", "Accept-Encoding", "Authorization", "Connection", "Content-Encoding", "Content-Length",
		"Content-Type", "Cookie", "Expect", "Forwarded", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding",
		"Upgrade", "Via", "X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Original-Url",
		"X-Rewrite-Url",
	}, name)
}

// body adds the body of a request. The members of an object become arguments; any other body is one argument.
func (in *input) body(r *openapi3.RequestBody) (*body, error) {
	if len(r.Content) == 0 {
		return nil, nil
	}
	k, mediaType, media := choose(r.Content)
	if k == kindOther {
		return nil, fmt.Errorf("the body is %s", strings.Join(slices.Sorted(maps.Keys(r.Content)), " or "))
	}
	b := &body{kind: k, mediaType: mediaType, required: r.Required}
	object := members(media.Schema)
	switch {
	case k == kindForm && object == nil && media.Schema != nil && r.Required:
		return nil, errors.New("the form has no list of fields")
	case k == kindForm && object == nil: // an empty form
		return nil, nil
	case k == kindText || object == nil:
		b.whole = true
		in.add(&argument{place: "body", key: "body"}, media.Schema, r.Description, r.Required)
		return b, nil
	}
	names := slices.Sorted(maps.Keys(object.Properties))
	for _, required := range []bool{true, false} { // the required members first
		for _, name := range names {
			if p := object.Properties[name]; slices.Contains(object.Required, name) == required &&
				(p == nil || p.Value == nil || !p.Value.ReadOnly) {
				a := &argument{place: "body", key: name, style: openapi3.SerializationMethod{Explode: true}}
				if e := media.Encoding[name]; e != nil {
					a.style = *e.SerializationMethod()
				}
				in.add(a, p, "", required && r.Required)
			}
		}
	}
	return b, nil
}

// members returns a body's schema if the body is an object with only the properties in the schema, or else nil.
func members(ref *openapi3.SchemaRef) *openapi3.Schema {
	if ref == nil || ref.Value == nil {
		return nil
	}
	s, more := ref.Value, ref.Value.AdditionalProperties
	if (s.Type != nil && !s.Type.Is("object")) || len(s.Properties) == 0 ||
		len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0 || s.Nullable || s.Not != nil || s.If != nil ||
		len(s.PatternProperties) > 0 || more.Schema != nil || more.Has != nil && *more.Has {
		return nil
	}
	return s
}
