package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// oddNames are unusual names of tools and servers.
var oddNames = []string{
	"export", "constructor", "console", "123start", "日本語", "naïve", "a-b", "a.b", "a/b", "a b", "a_b", "a_b",
	"hasOwnProperty", "then", "toJSON", "toString", "valueOf", "__proto__", "prototype", "tools", "submit", "sleep",
	"await", "delete", "arguments", "undefined", "globalThis", "😀", "\"", "\n", "", "$", "isPrototypeOf", "Object",
}

// Every tool can be called by each of its names, in a namespace of any name. The members
// of a namespace that the language reads are not tools.
func TestOddNames(t *testing.T) {
	t.Parallel()
	var sources []tools.Source
	for i, name := range oddNames {
		for _, namespace := range []string{"s", name} {
			if namespace != "" {
				sources = append(sources, &tools.Tool{Namespace: namespace, Name: name, Handler: answers(fmt.Sprint(i))})
			}
		}
	}
	var touched []string
	hooks := &tools.Tool{Namespace: "hooks", Name: "then",
		Handler: func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
			touched = append(touched, string(args))
			return nil, nil
		}}
	set := newSet(t, append(sources, hooks)...)
	var program strings.Builder
	program.WriteString("const got = [];\n")
	var want []string
	for _, b := range set.Bindings()[:len(sources)] {
		fmt.Fprintf(&program, "got.push(await %s({}));\n", b.Path())
		want = append(want, string(mustCall(t, b)))
		for _, name := range b.Names {
			fmt.Fprintf(&program, "got.push(await %s[%s]({}));\n", b.Object, text(name))
			want = append(want, string(mustCall(t, b)))
		}
	}
	program.WriteString("await s; await hooks; `${s}${hooks}`; JSON.stringify([s, hooks]); s + s;\n")
	program.WriteString("got.push(typeof console.log, typeof sleep, typeof submit, typeof Object.keys, typeof " +
		"globalThis);\nsubmit(got)")
	want = append(want, `"function"`, `"function"`, `"function"`, `"function"`, `"object"`)
	eachTier(t, sandbox.Limits{Calls: 1000}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: program.String(), Tools: set, Submit: true})
		if err != nil || out.Failure != nil {
			t.Fatal(err, out.Failure)
		}
		if got, want := string(out.Value), "["+strings.Join(want, ",")+"]"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if len(touched) > 0 {
			t.Errorf("a tool was called by accident: %q", touched)
		}
	})
}

func mustCall(t *testing.T, b *tools.Binding) json.RawMessage {
	t.Helper()
	result, err := b.Handler(t.Context(), json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func text(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
