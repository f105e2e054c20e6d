package serve

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	call := func(id, method string) message { return message{id: json.RawMessage(id), method: method, call: true} }
	initialize := call(`"a"`, "initialize")
	initialize.opening = true
	for body, want := range map[string]message{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:       call("1", "tools/call"),
		` {"id":"a","method":"initialize"}`:                    initialize,
		`{"method":"notifications/cancelled"}`:                 {method: "notifications/cancelled"},
		`{"id":1,"result":{}}`:                                 {id: json.RawMessage("1"), method: "answer"},
		`{"id":1,"method":"my/own"}`:                           call("1", "other"),
		`{"id":1,"method":"tools/call","Method":"","ID":null}`: call("1", "tools/call"),
		`{"id":1,"method":"ping","METHOD":"initialize"}`:       call("1", "ping"),
	} {
		if got, refused := inspect([]byte(body)); refused != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v %+v\nwant %+v", body, got, refused, want)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`))
	f.Add([]byte(`[{"id":1,"method":"ping"},{"id":null}]`))
	f.Add([]byte("[[[["))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, refused := inspect(body)
		if (refused == nil) != (m.method != "") {
			t.Errorf("%+v and %+v", m, refused)
		}
		if refused == nil && !json.Valid(body) {
			t.Error("invalid JSON was accepted")
		}
		if m.id != nil && !json.Valid(m.id) {
			t.Errorf("the ID is not JSON: %q", m.id)
		}
	})
}

func TestAllows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		patterns []string
		tool     string
		want     bool
	}{
		{nil, "execute_code", true},
		{[]string{}, "execute_code", false},
		{[]string{"execute_code"}, "execute_code", true},
		{[]string{"execute_code"}, "execute_code_file", false},
		{[]string{"Execute_code"}, "execute_code", false},
		{[]string{"*"}, "a/b.c", true},
		{[]string{"mail.*", "read_*"}, "read_file", true},
		{[]string{"*_file"}, "read_files", false},
		{[]string{"a*a"}, "a", false},
		{[]string{"a*b*c"}, "axxbyyc", true},
		{[]string{"a*b*c"}, "acb", false},
		{[]string{""}, "x", false},
	} {
		if got := (Principal{Name: "ada", Tools: c.patterns}).Allows(c.tool); got != c.want {
			t.Errorf("%q of %q: %v, want %v", c.tool, c.patterns, got, c.want)
		}
	}
}

// TestNamelessPrincipal checks that a Principal without a valid name has no rights.
func TestNamelessPrincipal(t *testing.T) {
	t.Parallel()
	for _, p := range []Principal{{}, {Tools: []string{"*"}}, {Name: "\xff"}, {Name: "\xff", Tools: []string{"*"}}} {
		if p.Allows("execute_code") {
			t.Errorf("%+v may use a tool", p)
		}
		if _, ok := PrincipalOf(WithPrincipal(t.Context(), p)); ok {
			t.Errorf("%+v is taken for somebody", p)
		}
	}
}
