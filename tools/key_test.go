package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/writ-go/writ/internal/canonical"
)

// The key of a call does not depend on the notation of its arguments.
func TestKey(t *testing.T) {
	t.Parallel()
	b := &Binding{Tool: &Tool{Name: "pay"}, Names: []string{"pay"}}
	same := key(t, b, `{"n":10,"list":[{"x":0.5}]}`)
	for _, args := range []string{`{"n":1e1,"list":[{"x":5e-1}]}`, `{ "list": [{"x": 0.50}], "n": 10.0 }`} {
		if key(t, b, args) != same {
			t.Errorf("%s has a different key", args)
		}
	}
	for _, args := range []string{
		`{"n":"1e1","list":[{"x":0.5}]}`, `{"n":100,"list":[{"x":0.5}]}`, `{"n":10,"list":[{"x":"0.5"}]}`,
		`{"n":10,"list":[{"x":0.5}],"note":null}`,
	} {
		if key(t, b, args) == same {
			t.Errorf("%s has the same key", args)
		}
	}
	if _, err := b.Key(json.RawMessage(`{`)); err == nil || err.Error() != "tools: arguments of pay: unexpected EOF" {
		t.Errorf("arguments that are not JSON: %v", err)
	}
}

// The key depends on the server, the tool's own name and the identity, but not on the name that
// programs use.
func TestKeyOfTool(t *testing.T) {
	t.Parallel()
	binding := func(namespace, name, object string, h Hints) *Binding {
		return &Binding{Tool: &Tool{Namespace: namespace, Name: name, Hints: h}, Object: object, Names: []string{"x"}}
	}
	const args = `{"to":"ann","text":"a"}`
	same := key(t, binding("mail", "send", "mail", Hints{}), args)
	if key(t, binding("mail", "send", "mail_2", Hints{}), args) != same {
		t.Error("the object's name counts")
	}
	if key(t, binding("mail", "post", "mail", Hints{}), args) == same {
		t.Error("the tool's name does not count")
	}
	if key(t, binding("post", "send", "mail", Hints{}), args) == same {
		t.Error("the server's name does not count")
	}
	const other = `{"to":"ann","text":"b"}`
	to := Hints{Identity: []string{"to"}}
	if b := binding("mail", "send", "mail", to); key(t, b, args) != key(t, b, other) {
		t.Error("an argument outside of the identity counts")
	}
	if b := binding("mail", "get", "mail", to); key(t, b, args) == key(t, b, other) {
		t.Error("the identity counts for a read")
	}
}

// A missing argument is equal to its default.
func TestKeyOfDefault(t *testing.T) {
	t.Parallel()
	own := &Tool{Name: "pay", Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
		InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"number","default":1}}}`)}
	foreign := *own
	foreign.Namespace = "bank"
	set, err := NewSet(t.Context(), own, &foreign)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range set.Bindings() {
		if key(t, b, `{}`) != key(t, b, `{"n":1.0}`) || key(t, b, `{}`) == key(t, b, `{"n":2}`) {
			t.Errorf("%s: the default does not count", b.Path())
		}
	}
}

// For an argument that is a pointer, null is the same as none. It is not known how a foreign server
// treats null.
func TestKeyOfNull(t *testing.T) {
	t.Parallel()
	type address struct {
		Floor *int `json:"floor,omitempty"`
	}
	type in struct {
		To   string   `json:"to"`
		Note *string  `json:"note,omitempty"`
		Home *address `json:"home,omitempty"`
		Many []*address
	}
	nothing := func(context.Context, in) (string, error) { return "", nil }
	own := Func("send", "Send.", nothing, nil)
	foreign := *own
	foreign.Namespace = "mail"
	set, err := NewSet(t.Context(), own, &foreign)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{
		{`{"to":"ann","Many":[]}`, `{"to":"ann","note":null,"home":null,"Many":[]}`},
		{`{"to":"ann","home":{},"Many":[{}]}`, `{"to":"ann","home":{"floor":null},"Many":[{"floor":null}]}`},
	} {
		if b := set.Bindings()[0]; key(t, b, pair[0]) != key(t, b, pair[1]) {
			t.Errorf("%s and %s have two keys", pair[0], pair[1])
		}
		if b := set.Bindings()[1]; key(t, b, pair[0]) == key(t, b, pair[1]) {
			t.Errorf("%s and %s have one key for a foreign tool", pair[0], pair[1])
		}
	}
	b := set.Bindings()[0]
	if key(t, b, `{"to":"ann","note":"","Many":[]}`) == key(t, b, `{"to":"ann","note":null,"Many":[]}`) {
		t.Error("an empty text is the same as none")
	}
}

func key(t *testing.T, b *Binding, args string) string {
	t.Helper()
	k, err := b.Key(json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The keys are those in existing journals: a hash of the server, the tool and the arguments as encoding/json writes
// them, with sorted names.
func FuzzKey(f *testing.F) {
	for _, args := range []string{
		`{"to":"ann","a":{"z":1.50,"b":["<é>"]}}`, `{"note":null,"to":"ann"}`, `{"to":1,"to":2}`, ` {"to":"ann"} `,
		`{"to":"ann"} x`, `null`, `[1]`, `{`, ``,
	} {
		f.Add(args)
	}
	type in struct {
		To   any     `json:"to"`
		Note *string `json:"note,omitempty"`
	}
	own := Func("send", "Send.", func(context.Context, in) (string, error) { return "", nil }, nil)
	foreign := *own
	foreign.Namespace, foreign.Hints.Identity = "<mail>", []string{"to"}
	set, err := NewSet(f.Context(), own, &foreign)
	if err != nil {
		f.Fatal(err)
	}
	bindings := append(set.Bindings(), &Binding{Tool: &Tool{Namespace: "mail", Name: "send"}, Names: []string{"send"}})
	f.Fuzz(func(t *testing.T, args string) {
		for _, b := range bindings {
			want, wantErr := oldKey(b, []byte(args))
			got, err := b.Key([]byte(args))
			if got != want || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%s: got %x, %v for %q, want %x, %v", b.Path(), got, err, args, want, wantErr)
			}
		}
	})
}

func oldKey(b *Binding, args json.RawMessage) (string, error) {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(b.Complete(args)))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return "", fmt.Errorf("tools: arguments of %s: %w", b.Path(), err)
	}
	if input := b.input.get(); input != nil && b.Namespace == "" {
		object, _ = input.DropNulls(object).(map[string]any)
	}
	if id := b.Hints.Identity; id != nil {
		maps.DeleteFunc(object, func(name string, _ any) bool { return !slices.Contains(id, name) })
	}
	text, _ := json.Marshal([]any{b.Namespace, b.Name, withNumbers(object)})
	sum := sha256.Sum256(text)
	return string(sum[:]), nil
}

func withNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = withNumbers(member)
		}
	case []any:
		for i, item := range v {
			v[i] = withNumbers(item)
		}
	case json.Number:
		return canonical.Number(v)
	}
	return v
}
