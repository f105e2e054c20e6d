package prompt

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONTextForm(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	for text, want := range map[string]string{
		`{"id": 1, "two words": 2, "title": {"id": 3}}`: " with the keys id, title",
		"\n [ {\"a\": [1, {\"b\": 2}]}, {\"c\": 1}]":    ", an array of objects with the keys a",
		`{}`:                  "",
		`{"Do this now!": 1}`: "",
		`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1}`: " with the keys a, b, c, d, e, f, g, h, i, j",
		`{"` + long[:jsonTextKey+1] + `": 1, "b": 2}`:                         " with the keys b",
		`{"a": 1, "b": "` + long + `", "c": 1}`:                               " with the keys a, b, c",
	} {
		if form, ok := jsonTextForm(encoded(t, text)); !ok || form != want {
			t.Errorf("%.60s: got %q, %v; want %q", text, form, ok, want)
		}
	}
	for _, text := range []string{"", "007", "[1, 2]", "[[{}]]", `"{}"`, "{a: 1}", `{"a": 1} and more`, "{" + long, "[" +
		long, long, `{"a": "` + strings.Repeat(long, 11) + `"}`} {
		if form, ok := jsonTextForm(encoded(t, text)); ok {
			t.Errorf("%.60s: got %q", text, form)
		}
	}
	for _, result := range []string{"", `{"a": 1}`, `[]`, `"`, `"\u00`, `["{}"]`} {
		if form, ok := jsonTextForm(json.RawMessage(result)); ok {
			t.Errorf("%s: got %q", result, form)
		}
	}
}
