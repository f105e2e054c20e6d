package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun runs the scripted quickstart and looks for the features that it demonstrates.
func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	page := filepath.Join(t.TempDir(), "report.html")
	if err := run(t.Context(), "", page, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("Hofladen Brandt")) {
		t.Errorf("the report: %v\n%s", err, html)
	}
	for _, want := range []string{
		"THE MODEL IS SCRIPTED",
		"question: Which German customers",
		"│ declare const shop: {",
		"│ {customers: {name: string; ",
		"refused before anything ran",
		`✗ line 2, column 59: shop has no tool "list_order" (did you mean shop.list_orders(args: {customer_id: ` +
			`string; year?: number /* integer */; cursor?: string /* From the page before. */})?)`,
		"✗ line 3, column 32: shop.list_refunds: curser is not a known property (did you mean cursor?)",
		`→ shop.list_orders({"customer_id":"c08","year":2025,"cursor":"4"})`,
		"submitted after",
		"   Hofladen Brandt    spent   907.50, refunded  293.75 (32%)\n" +
			"   Drees Logistik     spent   836.25, refunded  208.75 (25%)\n" +
			"   together                                      502.50\n",
		"2 model round trips for 11 tool calls. One call at a time, as tools are usually used,\nwould have taken 12:",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not contain %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

func TestUnknownModel(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), "acme:x", "", &bytes.Buffer{})
	want := `models: provider "acme" of model "acme:x" is unknown; use one of openai, `
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
