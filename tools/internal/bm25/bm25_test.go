package bm25_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/bm25"
	"github.com/writ-go/writ/tools/search"
)

// Recall: the needs in testdata use other words than the tools, so that a search by words finds
// only some of them. The misses are logged.
func TestRecall(t *testing.T) {
	t.Parallel()
	set := realServers(t)
	index := bm25.New(set.Bindings())
	for file, least := range map[string]int{"needs-unseen.txt": 65, "needs.txt": 55, "training.txt": 52} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			needs := readNeeds(t, filepath.Join("testdata", file), set)
			met := 0
			for _, n := range needs {
				hits := index.Search(n.text, "", 10)
				if slices.ContainsFunc(hits, func(h bm25.Hit) bool { return slices.Contains(n.tools, h.Path()) }) {
					met++
					continue
				}
				t.Logf("%q: want one of %v, got %v", n.text, n.tools, names(hits))
			}
			if met*100 < len(needs)*least {
				t.Errorf("a right tool is among the first ten for %d of %d needs, want %d%%", met, len(needs), least)
			}
		})
	}
}

// Every tool is found by its name and by the summary of its description.
func TestRecallOfToolWords(t *testing.T) {
	t.Parallel()
	set := realServers(t)
	index := bm25.New(set.Bindings())
	for _, b := range set.Bindings() {
		for _, query := range []string{b.Path(), search.Summary(b.Description)} {
			if hits := names(index.Search(query, "", 100)); !slices.Contains(hits, b.Path()) {
				t.Errorf("%q: got %v, want %s among them", query, hits, b.Path())
			}
		}
	}
}

// No tool of the real servers does what testdata/unmet asks for, so the search should find
// nothing. The hits are logged.
func TestNoMatch(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/unmet/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	index := bm25.New(realServers(t).Bindings())
	all, none := 0, 0
	for line := range strings.Lines(string(text)) {
		need := strings.TrimSpace(line)
		if need == "" || strings.HasPrefix(need, "#") {
			continue
		}
		all++
		if hits := index.Search(need, "", 10); len(hits) > 0 {
			t.Logf("%q: got %v", need, names(hits))
			continue
		}
		none++
	}
	if all < 50 || none*100 < all*70 {
		t.Errorf("the search found nothing for %d of %d needs, want 70%% of at least 50", none, all)
	}
}

// need is a need in plain words, and the tools that meet it.
type need struct {
	text  string
	tools []string
}

// readNeeds reads lines of the form need → server.tool | server.tool.
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
		t.Fatalf("%s has %d needs, want at least 60", file, len(needs))
	}
	return needs
}

func names(hits []bm25.Hit) []string {
	var list []string
	for _, h := range hits {
		list = append(list, h.Path())
	}
	return list
}

// realServers returns a set of the tools that eight real servers list.
func realServers(t testing.TB) *tools.Set {
	t.Helper()
	files, err := filepath.Glob("../../declare/testdata/servers/*.json")
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
