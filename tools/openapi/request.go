package openapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/tools"
)

// request makes the request for a call. The error says that the arguments are invalid.
func (o *operation) request(ctx context.Context, args json.RawMessage) (*http.Request, error) {
	doc, err := jsonvalue.Decode(args, resultLimits.Depth, false)
	if err != nil {
		return nil, fmt.Errorf("the value %w", err)
	}
	values, _ := doc.Value.(map[string]any)
	header, query, path := http.Header{"Accept": {o.accept}}, url.Values{}, map[string]string{}
	for _, a := range o.arguments {
		value := values[a.name]
		if value == nil {
			continue
		}
		if a.style.Style == openapi3.SerializationDeepObject && deepSize(len(a.key), value) > maxDeep {
			return nil, fmt.Errorf("%s: its nested names have together more than %d bytes", a.name, maxDeep)
		}
		switch a.place {
		case "path":
			path[a.key] = url.PathEscape(text(value))
		case "query":
			a.query(query, value)
		case "header":
			if strings.ContainsFunc(text(value), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return nil, fmt.Errorf("%s: a header must not contain line breaks or control characters", a.name)
			}
			header.Set(a.key, text(value))
		}
	}
	u, err := o.url(path)
	if err != nil {
		return nil, err
	}
	for name := range query { // a member of an object may have any name
		if o.api.credentials[credential("query", name)] {
			return nil, fmt.Errorf("%s: a credential must not be an argument", name)
		}
	}
	u.RawQuery = query.Encode()
	var content io.Reader
	if raw, ok := o.content(values); ok {
		content = bytes.NewReader(raw)
		header.Set("Content-Type", o.body.mediaType)
	}
	if o.idKey != "" {
		id := tools.EffectID(ctx)
		if id == "" { // no journal would recognize the call
			id = rand.Text()
		}
		header.Set(o.idKey, id)
	}
	req, err := http.NewRequestWithContext(ctx, o.method, u.String(), content)
	if err != nil {
		return nil, err
	}
	req.Header = header
	return req, nil
}

// url returns the address of a request. The argument has the escaped values of the parameters.
func (o *operation) url(path map[string]string) (*url.URL, error) {
	raw := strings.TrimRight(o.base.EscapedPath(), "/")
	for rest := o.path; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		if raw += (&url.URL{Path: literal}).EscapedPath(); !found {
			break
		}
		var key string
		if key, rest, _ = strings.Cut(after, "}"); path[key] == "" {
			return nil, fmt.Errorf("%s: a part of the path must not be empty", key)
		}
		raw += path[key]
	}
	decoded, err := url.PathUnescape(raw)
	if err != nil || climbs(decoded) {
		return nil, fmt.Errorf("the path %s must not have a part . or .. in it", o.path)
	}
	u := *o.base
	u.Path, u.RawPath = decoded, raw
	return &u, nil
}

// escaped matches one escaped byte. An invalid escape does not keep a server from decoding the valid ones.
var escaped = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// climbs reports whether a server might understand a part of a path as . or .., even if it decodes the path several
// times, accepts backslashes, or drops parameters after semicolons.
func climbs(path string) bool {
	for range 4 {
		for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			if part, _, _ = strings.Cut(part, ";"); part == "." || part == ".." {
				return true
			}
		}
		decoded := escaped.ReplaceAllStringFunc(path, func(e string) string {
			decoded, _ := url.PathUnescape(e)
			return decoded
		})
		if decoded == path {
			return false
		}
		path = decoded
	}
	return true
}

// text writes a value as text. The elements of an array are joined by commas; an object becomes JSON.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, element := range v {
			if _, nested := element.([]any); nested {
				element = jsonvalue.Text(element)
			}
			parts[i] = text(element)
		}
		return strings.Join(parts, ",")
	}
	return jsonvalue.Text(value)
}

// query adds a value to a query or a form.
func (a *argument) query(q url.Values, value any) {
	list, isList := value.([]any)
	object, isObject := value.(map[string]any)
	switch {
	case a.style.Style == openapi3.SerializationDeepObject:
		deep(q, a.key, value)
	case a.style.Explode && isList:
		for _, element := range list {
			q.Add(a.key, text(element))
		}
	case a.style.Explode && isObject && a.place == "query":
		for name, member := range object {
			q.Add(name, text(member))
		}
	default:
		q.Add(a.key, text(value))
	}
}

// deep adds a value as a[b][c]=value. The elements of an array are numbered.
func deep(q url.Values, key string, value any) {
	switch v := value.(type) {
	case []any:
		for i, element := range v {
			deep(q, key+"["+strconv.Itoa(i)+"]", element)
		}
	case map[string]any:
		for name, member := range v {
			deep(q, key+"["+name+"]", member)
		}
	default:
		q.Add(key, text(v))
	}
}

// maxDeep is the maximum size in bytes of the names that deep adds: each of them repeats those around it.
const maxDeep = 4 << 20

// deepSize returns the approximate size of the names that deep adds, if the outermost name has the given size.
func deepSize(name int, value any) int {
	sum := name
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			sum += deepSize(name+len("[10]"), element)
		}
	case map[string]any:
		for inner, member := range v {
			sum += deepSize(name+len(inner)+len("[]"), member)
		}
	}
	return sum
}

// content returns the body of a request, and whether the request has one.
func (o *operation) content(values map[string]any) ([]byte, bool) {
	if o.body == nil {
		return nil, false
	}
	object, form := map[string]any{}, url.Values{}
	for _, a := range o.arguments {
		value, ok := values[a.name]
		switch {
		case a.place != "body" || !ok:
		case o.body.whole && o.body.kind == kindJSON:
			return []byte(jsonvalue.Text(value)), true
		case o.body.whole:
			return []byte(text(value)), true
		default:
			object[a.key] = value
			a.query(form, value)
		}
	}
	switch {
	case len(object) == 0 && (!o.body.required || o.body.whole):
		return nil, false
	case o.body.kind == kindForm:
		return []byte(form.Encode()), true
	}
	return []byte(jsonvalue.Text(object)), true
}
