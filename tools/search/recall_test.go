package search_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

var update = flag.Bool("update", false, "rewrite the table of recall in docs/measured/tools.md")

// The share of needs for which a right tool is among the first ten hits is the one in docs/measured/tools.md.
func TestRecall(t *testing.T) {
	t.Parallel()
	set := realServers(t)
	words := search.New(set, 1000)
	both := words.ByMeaning(newSynonyms(t), nil)
	table := "| needs | number | by words | by words and meaning |\n|---|---|---|---|\n"
	for _, file := range []string{"needs.txt", "needs-unseen.txt", "training.txt"} {
		needs := readNeeds(t, file)
		table += fmt.Sprintf("| %s | %d | %.0f %% | %.0f %% |\n", file, len(needs), recall(t, words, needs),
			recall(t, both, needs))
	}
	const doc = "../../docs/measured/tools.md"
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	old := regexp.MustCompile(`(?m)^\| needs \|.*\n(\|.*\n)*`).FindString(string(text))
	if old == table {
		return
	}
	if !*update {
		t.Fatalf("the table is\n%s\nbut %s has\n%s", table, doc, old)
	}
	if err := os.WriteFile(doc, []byte(strings.Replace(string(text), old, table, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// recall returns the percentage of needs for which a tool that meets them is among the first ten hits.
func recall(t *testing.T, d *search.Index, needs map[string][]string) float64 {
	t.Helper()
	met := 0
	for text, right := range needs {
		hits, err := d.Search(t.Context(), text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(hits, func(h search.Hit) bool {
			b := d.Tool(h.Name)
			return slices.Contains(right, b.Namespace+"."+b.Name)
		}) {
			met++
		}
	}
	return 100 * float64(met) / float64(len(needs))
}

// readNeeds reads the needs with which package bm25 is measured: need → server.tool | server.tool.
func readNeeds(t *testing.T, file string) map[string][]string {
	t.Helper()
	needs := map[string][]string{}
	for _, line := range readLines(t, filepath.Join("../internal/bm25/testdata", file)) {
		text, right, _ := strings.Cut(line, " → ")
		needs[text] = strings.Split(right, " | ")
	}
	return needs
}

// readLines returns the lines of a file without comments and empty lines.
func readLines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "#")
	})
}

// realServers returns a set of the tools that eight real servers list.
func realServers(t *testing.T) *tools.Set {
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
		for _, declared := range server.Tools {
			one := tool(server.Server, declared.Name, declared.Description)
			one.InputSchema, one.OutputSchema = declared.InputSchema, declared.OutputSchema
			list = append(list, one)
		}
	}
	set, err := tools.NewSet(t.Context(), list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// synonyms is a deterministic embedder for this test. A text's vector has a share for each of its words, for each
// synset that has one of its words, and for each three letters in a row. It knows no context.
type synonyms struct{ synsets map[string][]string }

func newSynonyms(t *testing.T) synonyms {
	s := synonyms{map[string][]string{}}
	for _, line := range readLines(t, "testdata/synsets.txt") {
		for word := range strings.FieldsSeq(line) {
			s.synsets[stem(word)] = append(s.synsets[stem(word)], line)
		}
	}
	return s
}

// The shares were chosen with training.txt.
const (
	ofSynsets = 2.0
	ofLetters = 1.0
)

func (s synonyms) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, 4096)
	add := func(feature string, weight float64) {
		h := fnv.New32a()
		h.Write([]byte(feature))
		v[h.Sum32()%uint32(len(v))] += float32(weight)
	}
	seen := map[string]bool{}
	for _, word := range wordPattern.FindAllString(inner.ReplaceAllString(text, "$1 $2"), -1) {
		word = strings.ToLower(word)
		if w := stem(word); len(word) < 3 || common[word] || seen[w] {
			continue
		} else {
			seen[w] = true
			rarity := 1 / (1 + math.Log1p(float64(len(s.synsets[w])))) // words with many meanings say little
			add("word "+w, rarity)
			for _, line := range s.synsets[w] {
				add("synset "+line, ofSynsets*rarity/float64(len(s.synsets[w])))
			}
		}
		for i := range len(word) - 2 {
			add("letters "+word[i:i+3], ofLetters/float64(len(word)-2))
		}
	}
	return v, nil
}

func (s synonyms) EmbedDocuments(ctx context.Context, texts []string) (vectors [][]float32, _ error) {
	for _, text := range texts {
		v, err := s.EmbedQuery(ctx, text)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

var (
	wordPattern = regexp.MustCompile(`[A-Za-z]+`)
	inner       = regexp.MustCompile(`([a-z])([A-Z])`) // the border of two words in a name
	common      = func() map[string]bool {
		set := map[string]bool{}
		for w := range strings.FieldsSeq("the and for with that this from into are was were has have had its not you " +
			"your can will all any but how what when where which who why use used using does may must should then " +
			"than them they there these those our out own one two about also only other more most such each per api") {
			set[w] = true
		}
		return set
	}()
)

// stem removes some English endings.
func stem(word string) string {
	for _, ending := range []string{"ies", "ing", "es", "ed", "s", "e", "y"} {
		if cut, ok := strings.CutSuffix(word, ending); ok && len(cut) > 2 {
			return cut
		}
	}
	return word
}
