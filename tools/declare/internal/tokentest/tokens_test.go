package tokentest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

var update = flag.Bool("update", false, "write docs/measured/tokens.md anew")

const (
	root  = "../../../../"
	table = root + "docs/measured/tokens.md"
)

var servers = []string{"filesystem", "memory", "everything", "sequential-thinking", "playwright", "git", "mongodb",
	"notion", company}

// company stands for four servers with 547 tools, of which only the names are shown.
const company = "four servers"

var companyServers = []string{"erp", "facilities", "crm", "wiki"}

// limits has the maximum number of tokens of a server by default.
var limits = map[string]int{"filesystem": 1_000, "git": 3_500, "mongodb": 4_100, "notion": 2_400, company: 1_800}

const task = "Which orders of the customer are open, and which invoices are due?"

// budgets of the columns; zero is the default.
var budgets = []int{1_000_000, 0, 3_000, 1_500, 700, 300}

func TestDefaultsAreSmall(t *testing.T) {
	t.Parallel()
	count := counter(t)
	for server, limit := range limits {
		if got := count(declare.Markdown(recorded(t, server), 0)); got > limit {
			t.Errorf("%s takes %d tokens; the maximum is %d", server, got, limit)
		}
	}
}

// The estimate for complete declarations is accurate to a tenth, and the one for outlines of a few
// lines to 20 tokens.
func TestEstimate(t *testing.T) {
	t.Parallel()
	count := counter(t)
	for _, server := range servers {
		set := recorded(t, server)
		texts := map[string]string{}
		for _, budget := range budgets {
			texts[fmt.Sprint(budget)] = declare.Markdown(set, budget)
		}
		for _, b := range set.Bindings() {
			texts["all described"] += declare.Describe(b)
		}
		for name, text := range texts {
			got, want := declare.Tokens(text), count(text)
			if math.Abs(float64(got-want)) > max(0.1*float64(want), 20) {
				t.Errorf("%s, %s: %d are estimated, %d counted", server, name, got, want)
			}
		}
	}
}

// The table in the documents has the measured numbers.
func TestTable(t *testing.T) {
	t.Parallel()
	count := counter(t)
	var b strings.Builder
	b.WriteString(`# Tokens of the declarations

The table shows how many tokens the tools of real servers take in a prompt, counted with the tokenizer o200k. The
columns are the listings of the servers (JSON), everything that is known of the tools, the default, several smaller
budgets, and the prompts of CodeAct for a task. The estimate of ` + "`declare.Tokens`" + ` follows each count.

The tools are recorded in ` + "`tools/declare/testdata/servers`" + `. The last row has a company's 547 tools on four
servers, recorded in ` + "`tools/declare/testdata/business`" + `: by default, the declarations show only the names of
these tools, in families. The last column is the default of CodeAct for the task
"` + task + `":
at most about 3,300 tokens, or 2,600 with the tools that match the task if not all tools can be declared.
` + "`go test -update`" + ` in ` + "`tools/declare/internal/tokentest`" + ` writes this file.

| server | tools | as listed | everything | by default | ≤ 3000 | ≤ 1500 | ≤ 700 | ≤ 300 | with a task |
|---|---|---|---|---|---|---|---|---|---|
`)
	for _, server := range servers {
		set := recorded(t, server)
		fmt.Fprintf(&b, "| %s | %d | %d |", server, set.Len(), count(listed(t, server)))
		for _, budget := range budgets {
			text := declare.Markdown(set, budget)
			fmt.Fprintf(&b, " %d (%d) |", count(text), declare.Tokens(text))
		}
		d := declare.New(set, 0)
		text := d.Text + d.Matching(task)
		fmt.Fprintf(&b, " %d (%d) |\n", count(text), declare.Tokens(text))
		if n := count(text); n > 3400 {
			t.Errorf("%s takes %d tokens in the first prompt of a run", server, n)
		}
	}
	if *update {
		if err := os.WriteFile(table, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs; run with -update to rewrite it\ngot\n%s", table, b.String())
	}
}

func counter(t *testing.T) func(string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) int {
		n, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// recording is a server's answer to tools/list.
type recording struct{ Tools []json.RawMessage }

func read(t *testing.T, server string) recording {
	t.Helper()
	files := []string{filepath.Join(root, "tools/declare/testdata/servers", server+".json")}
	if server == company {
		files = nil
		for _, name := range companyServers {
			files = append(files, filepath.Join(root, "tools/declare/testdata/business", name+".json"))
		}
	}
	var all recording
	for _, file := range files {
		all.Tools = append(all.Tools, readFile(t, file).Tools...)
	}
	return all
}

func readFile(t *testing.T, file string) (r recording) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func listed(t *testing.T, server string) string {
	t.Helper()
	raw, err := json.Marshal(read(t, server).Tools)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func recorded(t *testing.T, server string) *tools.Set {
	t.Helper()
	if server == company {
		var all []*tools.Tool
		for _, name := range companyServers {
			all = append(all, toolsOf(t, name, filepath.Join(root, "tools/declare/testdata/business", name+".json"))...)
		}
		return newSet(t, all)
	}
	return newSet(t, toolsOf(t, server, filepath.Join(root, "tools/declare/testdata/servers", server+".json")))
}

func toolsOf(t *testing.T, namespace, file string) []*tools.Tool {
	t.Helper()
	var list []*tools.Tool
	for _, raw := range readFile(t, file).Tools {
		tool := &tools.Tool{Namespace: namespace, Handler: func(context.Context, json.RawMessage) (json.RawMessage,
			error) {
			return nil, nil
		}}
		var told struct {
			Name, Description         string
			InputSchema, OutputSchema json.RawMessage
			Annotations               struct{ ReadOnlyHint bool }
		}
		if err := json.Unmarshal(raw, &told); err != nil {
			t.Fatal(err)
		}
		tool.Name, tool.Description, tool.InputSchema, tool.OutputSchema = told.Name, told.Description, told.InputSchema,
			told.OutputSchema
		if told.Annotations.ReadOnlyHint && filepath.Base(filepath.Dir(file)) == "business" {
			tool.Claimed = tools.Read
		}
		list = append(list, tool)
	}
	return list
}

func newSet(t *testing.T, list []*tools.Tool) *tools.Set {
	t.Helper()
	var sources []tools.Source
	for _, tool := range list {
		sources = append(sources, tool)
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
