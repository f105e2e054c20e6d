package openapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/openapi"
)

const exampleHead = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://example.com"}],`

// failure calls orders_list, and returns the error.
func failure(t *testing.T, handler http.HandlerFunc, prepare func(*http.Request)) *tools.ToolError {
	t.Helper()
	_, err := call(t, shop(t, handler, &openapi.Options{Prepare: func(r *http.Request) error {
		prepare(r)
		return nil
	}}), orders, `{}`)
	te, ok := errors.AsType[*tools.ToolError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	return te
}

// A server repeats credentials so that they are hard to recognize.
func TestConcealedSecrets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(*http.Request)
		body string
	}{
		"escaped":  {func(r *http.Request) { r.Header.Set("X-Key", "secret+/secret") }, `{"a":"\u0073ecret\u002b\/secret"}`},
		"cookie":   {func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "s", Value: "secret-1"}) }, `{"a":"secret-1"}`},
		"password": {func(r *http.Request) { r.SetBasicAuth("ann", "secret-1") }, `no: secret-1`},
		"cut": {func(r *http.Request) { r.Header.Set("X-Key", "secret-of-many-letters") },
			strings.Repeat("x", 485) + "secret-of-many-letters"},
	} {
		te := failure(t, answer(http.StatusBadRequest, "text/plain", c.body), c.set)
		if text := te.Message + string(te.Data); strings.Contains(text, "ecret") || strings.Contains(text, `u0073`) {
			t.Errorf("%s: got %s with %s", name, te.Message, te.Data)
		}
	}
	te := failure(t, answer(http.StatusBadRequest, "application/json", `{"tenant":12345678}`),
		func(r *http.Request) { r.Header.Set("X-Tenant", "12345678") })
	if strings.Contains(te.Message, "12345678") || te.Data != nil && !json.Valid(te.Data) {
		t.Errorf("number: got %s with %s", te.Message, te.Data)
	}
}

// A part of a large text is not taken for the whole.
func TestLargeTextEndsInWhiteSpace(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0123456789\n0123456789", "\n0123456789x", "0123456789 "} {
		set := shop(t, answer(200, "text/plain", text), &openapi.Options{MaxResult: 10})
		_, err := call(t, set, "shop.orders_list_2", `{"id":"1"}`)
		if te, ok := errors.AsType[*tools.ToolError](err); !ok || te.Kind != tools.KindTooLarge {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// A program cannot set credentials through another spelling of the header or through an object in the query.
func TestCredentialsAreOfHost(t *testing.T) {
	t.Parallel()
	api, err := openapi.Parse([]byte(exampleHead+`"components":{"securitySchemes":{
		"h":{"type":"apiKey","in":"header","name":"X-API-Key"},"q":{"type":"apiKey","in":"query","name":"key"}}},
		"paths":{"/a":{"get":{"parameters":[{"in":"header","name":"x-api-key","schema":{"type":"string"}},
		{"in":"query","name":"filter","schema":{"type":"object"}}],"responses":{}}}}}`),
		&openapi.Options{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			t.Errorf("requested: %s with %v", r.URL, r.Header)
			return nil, errors.New("no")
		})})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(t.Context(), api)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"x-api-key":"mine"}`, `{"filter":{"key":"mine"}}`, `{"filter":{"KEY":"mine"}}`} {
		if _, err := call(t, set, "t.get_a", args); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
}

// Small arguments would become a query of gigabytes, since each name repeats those around it.
func TestLongNestedNames(t *testing.T) {
	t.Parallel()
	set := shop(t, func(http.ResponseWriter, *http.Request) { t.Error("requested") }, nil)
	args := `{"range":{"from":{"` + strings.Repeat("x", 20_000) + `":[` + strings.Repeat("1,", 10_000) + `1]}}}`
	if _, err := call(t, set, orders, args); err == nil || !strings.Contains(err.Error(), "nested names") {
		t.Errorf("got %.200v", err)
	}
}

// Documents in which small parts would have large effects.
func TestAmplifyingDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing in it is concurrent; the race detector would take half a minute")
	}
	t.Parallel()
	var same, sharing strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&same, `"/%d":{"get":{"operationId":"a","responses":{}}},`, i)
	}
	api, err := openapi.Parse([]byte(exampleHead+`"paths":{`+same.String()[:same.Len()-1]+`}}`), nil)
	if all, _ := api.Tools(t.Context()); err != nil || len(all) != 20_000 {
		t.Errorf("%d operations of one name: %v", len(all), err)
	}
	for i := range 30 {
		fmt.Fprintf(&sharing, `"/%d":{"get":{"parameters":[{"$ref":"#/components/parameters/p"}],"responses":{}}},`, i)
	}
	api, err = openapi.Parse([]byte(exampleHead+`"components":{"parameters":{"p":{"name":"p","in":"query","schema":{
		"type":"string","enum":["`+strings.Repeat("x", 8<<20)+`"]}}}},"paths":{`+
		sharing.String()[:sharing.Len()-1]+`}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := api.Tools(t.Context())
	if len(all) > 20 || !strings.Contains(strings.Join(api.Warnings(), ""), "have more than 268435456 bytes") {
		t.Errorf("%d tools; %.300v", len(all), api.Warnings())
	}
}
