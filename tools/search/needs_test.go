package search_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

// TestNeeds asks for what people need, in their words: see testdata/needs.txt.
// Of each list, nine tenths must be among the first five, and a little more of
// the one that the synonyms were tuned on. The misses are shown with -v.
func TestNeeds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no lists", err)
	}
	set := realServers(t)
	index := search.New(set)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			needs := readNeeds(t, file, set)
			met, percent := 0, 90
			if filepath.Base(file) == "training.txt" {
				percent = 94
			}
			for _, n := range needs {
				hits := index.Search(n.text, &search.Options{Limit: 5})
				if slices.ContainsFunc(hits, func(h search.Hit) bool { return slices.Contains(n.tools, h.Name) }) {
					met++
					continue
				}
				t.Logf("%q: wanted %v, got %v", n.text, n.tools, names(hits))
			}
			if t.Logf("%d of %d", met, len(needs)); met*100 < len(needs)*percent {
				t.Errorf("the right tool was in the first five for %d of %d", met, len(needs))
			}
		})
	}
}

// need is what somebody wants, and the tools that do it.
type need struct {
	text  string
	tools []string
}

// readNeeds reads lines of need → server.tool | server.tool.
func readNeeds(t testing.TB, file string, set *tools.Set) []need {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{}
	for _, b := range set.Bindings() {
		paths[b.Namespace+"."+b.Name] = b.Path()
	}
	var needs []need
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		what, which, ok := strings.Cut(line, "→")
		if !ok {
			t.Fatalf("%s: no arrow in %q", file, line)
		}
		n := need{text: strings.TrimSpace(what)}
		for tool := range strings.SplitSeq(which, "|") {
			path, ok := paths[strings.TrimSpace(tool)]
			if !ok {
				t.Fatalf("%s: there is no tool %q", file, tool)
			}
			n.tools = append(n.tools, path)
		}
		needs = append(needs, n)
	}
	if len(needs) < 60 {
		t.Fatalf("%s has %d needs; 60 make a test", file, len(needs))
	}
	return needs
}

func names(hits []search.Hit) []string {
	var list []string
	for _, h := range hits {
		list = append(list, h.Name)
	}
	return list
}

// realServers is a set of what eight servers answered to tools/list.
func realServers(t testing.TB) *tools.Set {
	t.Helper()
	files, err := filepath.Glob("../declare/testdata/servers/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no servers", err)
	}
	var list []tools.Source
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var server struct {
			Server string
			Tools  []struct {
				Name, Description         string
				InputSchema, OutputSchema json.RawMessage
			}
		}
		if err := json.Unmarshal(text, &server); err != nil {
			t.Fatal(file, err)
		}
		for _, tool := range server.Tools {
			list = append(list, &tools.Tool{
				Namespace: server.Server, Name: tool.Name, Description: tool.Description,
				InputSchema: tool.InputSchema, OutputSchema: tool.OutputSchema, Handler: nothing,
			})
		}
	}
	return newSet(t, list...)
}

func nothing(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }

func newSet(t testing.TB, sources ...tools.Source) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(context.Background(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
