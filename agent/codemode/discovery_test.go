package codemode

import (
	"context"
	"strings"
	"testing"
)

func TestDiscovery(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path}})
	type hits struct {
		Tools []struct{ Name, Description string }
	}
	if got := get[hits](t, session, "search_tools", map[string]any{"query": "write", "limit": 1}); len(got.Tools) != 1 ||
		got.Tools[0].Name != "fs.write_file" {
		t.Errorf("got %+v", got)
	}
	if got := get[struct{ Note string }](t, session, "search_tools",
		map[string]any{"query": "swimming hall"}); got.Note != `no tool matches "swimming hall"; the tools are fs.die, `+
		`fs.learn, fs.list_directory, fs.read_text_file, fs.write_file` {
		t.Errorf("got %+v", got)
	}
	type declared struct{ Declaration string }
	const write = "declare const fs: {\n  write_file(args: {path: string; content: string}): Promise<string | " +
		"Content>;\n};\n"
	for want, name := range map[string]any{
		write: "fs.write_file",
		"// there is no tool \"fs.wrte_file\"; the nearest is fs.write_file\n" +
			write: []string{"fs.wrte_file", "fs.write_file"},
	} {
		if got := get[declared](t, session, "describe_tool", map[string]any{"name": name}); got.Declaration != want {
			t.Errorf("%v: got %+v\nwant %s", name, got, want)
		}
	}
	for _, test := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"describe_tool", map[string]any{"name": "fs.nope"},
			`there is no tool or server "fs.nope"; the tools are fs.die, fs.learn, fs.list_directory, fs.read_text_file, ` +
				`fs.write_file`},
		{"search_tools", map[string]any{"query": "x", "server": "nope"},
			`there is no server "nope"; available: fs (5 tools)`},
		{"search_tools", map[string]any{}, "query is required"},
	} {
		if text, failed := ask(t, session, test.tool, test.args); !failed || string(text) != test.want {
			t.Errorf("%s %v\ngot  %s\nwant %s", test.tool, test.args, text, test.want)
		}
	}
}

// TestOutline has more tools than the description may declare.
func TestOutline(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	_, a := begin(t, setup{Options: Options{Config: path, Declarations: 120}})
	text := a.as(local).describeExecute(a.catalog.everything())
	if !strings.Contains(text, "search_tools finds tools that are not declared below") || strings.Contains(text, "content: string") {
		t.Errorf("the description is no outline:\n%s", text)
	}
	p := local
	p.Tools = []string{"execute_code", "search_tools", "fs.*"}
	if text := a.as(p).describeExecute(a.catalog.everything()); !strings.Contains(text, aboutSearchInside) ||
		strings.Contains(text, "describe_tool") {
		t.Errorf("who has no describe_tool is told of it:\n%s", text)
	}
}

// reading is an embedder for which reading and studying are the same.
type reading struct{}

func (reading) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if strings.Contains(text, "read_") || strings.Contains(text, "study") {
		return []float32{1, 0}, nil
	}
	return []float32{0, 1}, nil
}

func (r reading) EmbedDocuments(ctx context.Context, texts []string) (vectors [][]float32, _ error) {
	for _, text := range texts {
		v, _ := r.EmbedQuery(ctx, text)
		vectors = append(vectors, v)
	}
	return vectors, nil
}

// With an embedder, clients and programs find tools by meaning.
func TestDiscoveryByMeaning(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path, Embedder: reading{}}})
	type hits struct {
		Tools []struct{ Name string }
	}
	got := get[hits](t, session, "search_tools", map[string]any{"query": "study it"})
	if len(got.Tools) != 1 || got.Tools[0].Name != "fs.read_text_file" {
		t.Errorf("got %+v", got)
	}
	ran := get[struct{ Result []struct{ Name string } }](t, session, "execute_code",
		map[string]any{"code": "return await tools.search('study it')"})
	if len(ran.Result) != 1 || ran.Result[0].Name != "fs.read_text_file" {
		t.Errorf("got %+v", ran)
	}
}
