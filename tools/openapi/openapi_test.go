package openapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/openapi"
)

// shop returns the tools of testdata/shop.yaml at a server.
func shop(t *testing.T, handler http.HandlerFunc, o *openapi.Options) *tools.Set {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	if o == nil {
		o = &openapi.Options{}
	}
	o.BaseURL = server.URL + "/v1/"
	api, err := openapi.Open("testdata/shop.yaml", o)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(t.Context(), api)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func binding(t *testing.T, set *tools.Set, path string) *tools.Binding {
	t.Helper()
	for _, b := range set.Bindings() {
		if b.Path() == path {
			return b
		}
	}
	t.Fatalf("there is no tool %s", path)
	return nil
}

// call calls a tool as a program does.
func call(t *testing.T, set *tools.Set, path, args string) (string, error) {
	t.Helper()
	b := binding(t, set, path)
	if findings := b.Check([]byte(args), nil); len(findings) > 0 {
		return "", fmt.Errorf("invalid: %v", findings)
	}
	result, err := b.Handler(t.Context(), b.Complete(json.RawMessage(args)))
	return string(result), err
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	echo := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := fmt.Sprintf("%s %s\n", r.Method, r.RequestURI)
		for _, name := range []string{"Content-Type", "X-Trace", "Authorization"} {
			if v := r.Header.Get(name); v != "" {
				text += name + ": " + v + "\n"
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(text + string(body))
	}
	set := shop(t, echo, &openapi.Options{Prepare: func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer of-the-host")
		return nil
	}})
	const host = "Authorization: Bearer of-the-host\n"
	for _, c := range []struct{ tool, args, want string }{
		{"shop.orders_list", `{}`, "GET /v1/orders\n" + host},
		{
			"shop.orders_list",
			`{"status":["a b","c&d"],"ids":["x","y"],"range":{"from":{"day":1},"to":[2,3]},"filter":{"color":"red"},
			"limit":3,"X-Trace":["1","2"]}`,
			"GET /v1/orders?color=red&ids=x%2Cy&limit=3&range%5Bfrom%5D%5Bday%5D=1&range%5Bto%5D%5B0%5D=2" +
				"&range%5Bto%5D%5B1%5D=3&status=a+b&status=c%26d\nX-Trace: 1,2\n" + host,
		},
		{
			"shop.orders_create", `{"item":"in the query","body_item":"tea","count":12345678901234567890,"note":null}`,
			"POST /v1/orders?item=in+the+query\nContent-Type: application/json\n" + host +
				`{"count":12345678901234567890,"item":"tea","note":null}`,
		},
		{"shop.orders_list_2", `{"id":"a/b c","body":"hello"}`, "PUT /v1/orders/a%2Fb%20c\nContent-Type: text/plain\n" +
			host + "hello"},
		{
			"shop.post_orders_id_pay", `{"id":"7","amount":5,"tags":["x","y"],"meta":{"a":{"b":[1]}},"card":{"no":1}}`,
			"POST /v1/orders/7/pay\nContent-Type: application/x-www-form-urlencoded\n" + host +
				"amount=5&card=%7B%22no%22%3A1%7D&meta%5Ba%5D%5Bb%5D%5B0%5D=1&tags=x&tags=y",
		},
		{"shop.post_orders_id_pay", `{"id":"7"}`, "POST /v1/orders/7/pay\n" + host},
		{"shop.search", `{"body":[1,2]}`, "POST /v1/search\nContent-Type: application/json\n" + host + "[1,2]"},
	} {
		got, err := call(t, set, c.tool, c.args)
		if err != nil {
			t.Errorf("%s(%s): %v", c.tool, c.args, err)
			continue
		}
		var text string
		if json.Unmarshal([]byte(got), &text) != nil || strings.HasPrefix(text, `"`) { // declared as text
			_ = json.Unmarshal([]byte(text), &text)
		}
		equal(t, c.tool, text, c.want)
	}
	for _, args := range []string{
		`{"Authorization":"mine"}`, `{"api_key":"mine"}`, `{"session":"mine"}`, `{"Host":"x"}`, `{"Cookie":"x"}`,
	} {
		if _, err := call(t, set, "shop.orders_list", args); err == nil {
			t.Errorf("a program may set %s", args)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	set := shop(t, nil, nil)
	var all strings.Builder
	for _, b := range set.Bindings() {
		fmt.Fprintf(&all, "%s (%v, destructive %t)\n%s\n%s\n-> %s\n\n", b.Path(), b.Hints.Class, b.Hints.Destructive,
			b.Description, b.InputSchema, b.OutputSchema)
		b.Check([]byte(`{}`), nil) // compiles the schema
		b.CheckResult([]byte(`{}`))
	}
	fmt.Fprintln(&all, strings.Join(set.Warnings(), "\n"))
	const file = "testdata/shop.golden"
	if *update {
		if err := os.WriteFile(file, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, file, all.String(), string(want))
}

// No part of a path may lead out of the API, however it is written.
func TestPathStaysInside(t *testing.T) {
	t.Parallel()
	set := shop(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was requested", r.RequestURI) }, nil)
	for _, id := range []string{
		"..", ".", "", "../admin", "a/../../admin", `..\\admin`, "%2e%2e", "%252e%252e/x", "..%2fadmin", "..;/admin",
		"x/..",
		"%25252525252e%25252525252e", "%2e%2e/%", "%2e%2e/admin/%zz",
	} {
		_, err := call(t, set, "shop.orders_delete", `{"id":"`+id+`"}`)
		if te, ok := errors.AsType[*tools.ToolError](err); !ok || te.Kind != tools.KindInvalidArguments {
			t.Errorf("%s: got %v", id, err)
		}
	}
	if _, err := call(t, set, "shop.orders_list", `{"X-Trace":["a\r\nHost: evil"]}`); err == nil {
		t.Error("a header may have line breaks")
	}
}

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	const head = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://example.com"}],` +
		`"paths":`
	bomb := "openapi: 3.1.0\ninfo: {title: t, version: '1'}\nx-a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := range 12 {
		bomb += fmt.Sprintf("x-%c: &%[1]c [%s*%c]\n", 'b'+i, strings.Repeat(fmt.Sprintf("*%c,", 'a'+i), 9), 'a'+i)
	}
	for _, c := range []struct{ name, document, want string }{
		{"empty", "", "the document's version is"},
		{"HTML", "<!doctype html>", "openapi: the document is HTML or XML; download the OpenAPI document itself"},
		{"Swagger", `{"swagger":"2.0","paths":{}}`,
			`openapi: the document's version is ""; convert it to OpenAPI 3.0 or 3.1 first`},
		{"3.2", `{"openapi":"3.2.0","info":{"title":"t","version":"1"},"paths":{}}`,
			`the document's version is "3.2.0"`},
		{"not YAML", "a: b: c", "openapi: cannot read the document: "},
		{"no paths", head + `{}}`, "openapi: the document has no operation that can be a tool"},
		{"no server", `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{"responses":{}}}}}`,
			"the document names no server; set Options.BaseURL"},
		{"server without a host", strings.Replace(head, "https://example.com", "/v1", 1) + `{}}`,
			`the server's address "/v1" cannot be used; set Options.BaseURL`},
		{"server with a password", strings.Replace(head, "example", "u:p@example", 1) + `{}}`,
			"https://u:xxxxx@example.com\" cannot be used"},
		{"null as a server", strings.Replace(head, `{"url":"https://example.com"}`, "null", 1) + `{}}`,
			"cannot be used"},
		{"control characters", head + `{"/\u001b":{"get":{"parameters":[{"in":"query","name":"a","style":"\u001b"}]}}}}`,
			`not supported: \u001b: GET /\u001b`},
		{"too many values in YAML", "#\n{\"x\":[" + strings.Repeat("1,", 5<<20) + "1]}", "too complex"},
		{"remote reference", head + `{"/a":{"get":{"parameters":[{"$ref":"https://example.com/x.json#/a"}]}}}}`,
			"no other document is read: bundle the documents into one file first"},
		{"file", head + `{"/a":{"$ref":"/etc/passwd"}}}`, "no other document is read"},
		{"missing reference", head + `{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/x"}]}}}}`,
			"openapi: cannot read the document: "},
		{"cyclic references", head + `{},"components":{"parameters":{"a":{"$ref":"#/components/parameters/b"},` +
			`"b":{"$ref":"#/components/parameters/a"}}}}`, "openapi: "},
		{"deeply nested", head + strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 301), "too complex"},
		{"too many values", "{\"x\":[" + strings.Repeat("1,", 5<<20) + "1]}", "too complex"},
		{"too large", strings.Repeat(" ", 33<<20), "the document has more than 33554432 bytes"},
		{"aliases", bomb, "openapi: cannot read the document: "},
	} {
		_, err := openapi.Parse([]byte(c.document), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := openapi.Open("testdata/missing.yaml", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A schema that refers to itself stays complete, with its definitions.
func TestRecursiveSchemas(t *testing.T) {
	t.Parallel()
	api, err := openapi.Parse([]byte(`{"openapi":"3.1.0","info":{"title":"Tree API","version":"1"},
		"servers":[{"url":"https://example.com"}],
		"components":{"schemas":{
			"A":{"type":"object","properties":{"b":{"$ref":"#/components/schemas/B","description":"next"}},
				"required":["b"]},
			"B":{"anyOf":[{"$ref":"#/components/schemas/A"},{"type":"null"}]}}},
		"paths":{"/a":{"post":{
			"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}},
			"responses":{"200":{"description":"","content":
				{"application/json":{"schema":{"$ref":"#/components/schemas/B"}}}}}}}}}`),
		nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(t.Context(), api)
	if err != nil {
		t.Fatal(err)
	}
	b := binding(t, set, "Tree_API.post_a")
	equal(t, "input", string(b.InputSchema), `{"$defs":{"A":{"properties":{"b":{"$ref":"#/$defs/B",`+
		`"description":"next"}},`+
		`"required":["b"],"type":"object"},"B":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}},`+
		`"additionalProperties":false,"properties":{"b":{"$ref":"#/$defs/B","description":"next"}},"required":["b"],`+
		`"type":"object"}`)
	for args, valid := range map[string]bool{
		`{"b":null}`: true, `{"b":{"b":{"b":null}}}`: true, `{"b":{"b":{"b":1}}}`: false, `{}`: false,
	} {
		if findings := b.Check([]byte(args), nil); len(findings) == 0 != valid {
			t.Errorf("%s: %v", args, findings)
		}
	}
}
