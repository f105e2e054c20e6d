package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/jsonvalue"
)

func nothing(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }

func own(name string) *Tool { return &Tool{Name: name, Handler: nothing} }

func of(namespace, name string) *Tool {
	return &Tool{Namespace: namespace, Name: name, Handler: nothing}
}

// calls lists how programs call the tools of a set, and its warnings.
func calls(t *testing.T, sources ...Source) []string {
	t.Helper()
	set, err := NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, b := range set.Bindings() {
		list = append(list, b.label()+": "+b.Path()+fmt.Sprintf(" %q", b.Names[1:]))
	}
	return append(list, set.Warnings()...)
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, want string }{
		{"read", `read []`},
		{"export", `export []`}, // any word may follow a dot
		{"constructor", `constructor []`},
		{"console", `console []`},
		{"hasOwnProperty", `hasOwnProperty []`},
		{"then", `then_2 []`},
		{"toJSON", `toJSON_2 []`},
		{"toString", `toString_2 []`},
		{"valueOf", `valueOf_2 []`},
		{"__proto__", `__proto___2 []`},
		{"123start", `_123start ["123start"]`},
		{"read-file", `read_file ["read-file"]`},
		{"a.b/c d", `a_b_c_d ["a.b/c d"]`},
		{"日本", `日本 []`},
		{"naïve", `naïve []`},
		{"na\u0308", `na_ ["na` + "\u0308" + `"]`}, // a combining mark
		{"a\u200cb", `a_b ["a\u200cb"]`},
		{"a\nb", `a_b ["a\nb"]`},
		{"😀", `_ ["😀"]`},
		{`"`, `_ ["\""]`},
		{"", `_ [""]`},
		{"$", `$ []`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := calls(t, of("s", test.name))
			want := fmt.Sprintf("tool %q of \"s\": s.%s", test.name, test.want)
			if got[0] != want {
				t.Errorf("got  %s\nwant %s", got[0], want)
			}
			if len(got) > 1 && implicit[test.name] == 0 {
				t.Errorf("unexpected warnings %q", got[1:])
			}
		})
	}
}

func TestReservedNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"class", "NaN", "Promise", "toString", "__proto__", "console", "tools"} {
		_, err := NewSet(t.Context(), own(name))
		want := fmt.Sprintf("tools: tool %q: the name is reserved in programs; choose another", name)
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		equal(t, calls(t, of(name, "x")), []string{
			fmt.Sprintf(`tool "x" of %q: %s_.x []`, name, name),
			fmt.Sprintf(`namespace %q is called %s_ in programs`, name, name),
		})
	}
}

func TestCollisions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		sources []Source
		want    []string
	}{
		{"like another, after it", []Source{of("s", "a_b"), of("s", "a-b")}, []string{
			`tool "a_b" of "s": s.a_b []`,
			`tool "a-b" of "s": s.a_b_2 ["a-b"]`,
			`tool "a-b" of "s" is called s.a_b_2 in programs, because the name a_b is taken or reserved`,
		}},
		{"like another, before it", []Source{of("s", "a-b"), of("s", "a_b")}, []string{
			`tool "a-b" of "s": s.a_b_2 ["a-b"]`,
			`tool "a_b" of "s": s.a_b []`,
			`tool "a-b" of "s" is called s.a_b_2 in programs, because the name a_b is taken or reserved`,
		}},
		{"numbered names are taken too", []Source{of("s", "a-b"), of("s", "a b"), of("s", "a_b_2"), of("s", "a_b")}, []string{
			`tool "a-b" of "s": s.a_b_4 ["a-b"]`,
			`tool "a b" of "s": s.a_b_3 ["a b"]`,
			`tool "a_b_2" of "s": s.a_b_2 []`,
			`tool "a_b" of "s": s.a_b []`,
			`tool "a b" of "s" is called s.a_b_3 in programs, because the name a_b is taken or reserved`,
			`tool "a-b" of "s" is called s.a_b_4 in programs, because the name a_b is taken or reserved`,
		}},
		{"the same twice", []Source{of("s", "a"), of("s", "a"), of("s", "a b"), of("s", "a b")}, []string{
			`tool "a" of "s": s.a []`,
			`tool "a" of "s": s.a_2 []`,
			`tool "a b" of "s": s.a_b ["a b"]`,
			`tool "a b" of "s": s.a_b_2 []`,
			`tool "a" of "s" is called s.a_2 in programs, because the name a is taken or reserved`,
			`tool "a b" of "s" is called s.a_b_2 in programs, because the name a_b is taken or reserved`,
		}},
		{"prototype twice", []Source{of("s", "__proto__"), of("s", "__proto__")}, []string{
			`tool "__proto__" of "s": s.__proto___2 []`,
			`tool "__proto__" of "s": s.__proto___3 []`,
			`tool "__proto__" of "s" is called s.__proto___2 in programs, because the name __proto__ is taken or reserved`,
			`tool "__proto__" of "s" is called s.__proto___3 in programs, because the name __proto__ is taken or reserved`,
		}},
		{"namespaces like each other", []Source{of("my-server", "a"), of("my_server", "a"), of("my server", "a"),
			of("my-server", "b")}, []string{
			`tool "a" of "my-server": my_server_3.a []`,
			`tool "a" of "my_server": my_server.a []`,
			`tool "a" of "my server": my_server_2.a []`,
			`tool "b" of "my-server": my_server_3.b []`,
			`namespace "my server" is called my_server_2 in programs`,
			`namespace "my-server" is called my_server_3 in programs`,
		}},
		{"reserved namespace like another", []Source{of("console", "a"), of("console_", "a")}, []string{
			`tool "a" of "console": console__2.a []`,
			`tool "a" of "console_": console_.a []`,
			`namespace "console" is called console__2 in programs`,
		}},
		{"namespace like a Go tool, before it", []Source{of("mail", "send"), own("mail")}, []string{
			`tool "send" of "mail": mail_2.send []`,
			`tool "mail": mail []`,
			`namespace "mail" is called mail_2 in programs`,
		}},
		{"namespace like a Go tool, after it", []Source{own("mail"), of("mail", "mail")}, []string{
			`tool "mail": mail []`,
			`tool "mail" of "mail": mail_2.mail []`,
			`namespace "mail" is called mail_2 in programs`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			equal(t, calls(t, test.sources...), test.want)
		})
	}
}

// A hostile server may have many tools with the same name.
func TestManyCollisions(t *testing.T) {
	t.Parallel()
	var sources []Source
	for i := range 5_000 {
		sources = append(sources, of("s", "a"+string(rune(0x2500+i))))
	}
	set, err := NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	for _, b := range set.Bindings() {
		paths[b.Path()] = true
	}
	if len(paths) != set.Len() {
		t.Errorf("%d tools have %d names", set.Len(), len(paths))
	}
}

func FuzzNames(f *testing.F) {
	f.Add("s", "read-file", "read_file")
	f.Add("export", "__proto__", "")
	f.Fuzz(func(t *testing.T, namespace, a, b string) {
		if namespace == "" {
			namespace = "s"
		}
		set, err := NewSet(t.Context(), of(namespace, a), of(namespace, b), of(namespace, a))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, b := range set.Bindings() {
			if !jsonvalue.IsIdentifier(b.Object) || globals.Reserved(b.Object) || !jsonvalue.IsIdentifier(b.Names[0]) {
				t.Errorf("%q is not valid", b.Path())
			}
			for _, name := range b.Names {
				if seen[name] || implicit[name] > 0 {
					t.Errorf("%q is taken", name)
				}
				seen[name] = true
			}
		}
	})
}
