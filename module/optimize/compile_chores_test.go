package optimize_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// A chore is a task that is compiled in these tests: what the agent writes for single questions, and what the model
// writes for all of them, until a program is accepted.
type chore struct {
	signature, instructions string
	agent                   string   // the agent's program
	drafts                  []string // the last one is right
	problems                []string // of the other drafts
	question                func(i int) (in, want map[string]any)
}

var chores = map[string]chore{
	"total of a table": {
		signature: "csv: str -> total: float", instructions: "Add up the last column.",
		agent: `const rows = csv.trim().split('\n').slice(1);
submit({total: rows.reduce((sum, row) => sum + Number(row.split(',').at(-1)), 0)})`,
		drafts: []string{
			`submit({total: csv.lines().length})`,
			`const rows = csv.trim().split('\n').slice(1);
submit({total: rows.reduce((sum, row) => sum + Number(row.split(',').at(-1)), 0)})`,
		},
		problems: []string{"it fails on 10 of 10 training examples"},
		question: func(i int) (in, want map[string]any) {
			text, total := "item,price\n", 0
			for n := range i%4 + 1 {
				text, total = text+fmt.Sprintf("thing %d,%d\n", n, n*i+i), total+n*i+i
			}
			return map[string]any{"csv": text}, map[string]any{"total": total}
		},
	},
	"customers of orders": {
		signature: "day: int -> names: list[str]", instructions: "List the customers of the day, sorted.",
		agent: `const list = await shop.orders({day});
const names = await Promise.all(list.map(async id => (await shop.customer({id})).name));
submit({names: [...new Set(names)].sort()})`,
		drafts: []string{
			`const known = {a: 'Anneliese', b: 'Bartholomew'}; submit({names: [known.a, known.b]})`,
			`const list = await shop.orders({day});
const names = await Promise.all(list.map(async id => (await shop.customer({id})).name));
submit({names: [...new Set(names)].sort()})`,
		},
		problems: []string{"its score on the training examples is "}, // the names are not refused: a tool returns them
		question: func(i int) (in, want map[string]any) {
			names := []string{"Anneliese", "Bartholomew", "Clementine"}[:i%3+1]
			return map[string]any{"day": i}, map[string]any{"names": names}
		},
	},
	"all pages": {
		signature: "kind: str -> count: int", instructions: "Count the entries of the kind.",
		agent: `let count = 0, cursor;
do { const page = await shop.list({kind, cursor}); count += page.items.length; cursor = page.next } while (cursor);
submit({count})`,
		drafts: []string{
			`submit({count: (await shop.list({kind})).items.length})`,
			`let count = 0, cursor;
do { const page = await shop.list({kind, cursor}); count += page.items.length; cursor = page.next } while (cursor);
submit({count})`,
		},
		problems: []string{"its score on the training examples is "},
		question: func(i int) (in, want map[string]any) {
			kind := strings.Repeat("k", i+1)
			return map[string]any{"kind": kind}, map[string]any{"count": len(kind)}
		},
	},
	"mails": {
		signature: "to: list[str] -> sent: int", instructions: "Send everybody a mail once.",
		agent: `const all = [...new Set(to)]; for (const a of all) await mail.send({to: a}); submit({sent: all.length})`,
		drafts: []string{`const all = [...new Set(to)]; for (const a of all) await mail.send({to: a});
return {sent: all.length}`},
		question: func(i int) (in, want map[string]any) {
			to := []string{"ann@example.org", "bob@example.org", "ann@example.org"}[:i%3+1]
			return map[string]any{"to": to}, map[string]any{"sent": min(len(to), 2)}
		},
	},
	"dates": {
		signature: "text: str -> date: str", instructions: "Write the date as in ISO 8601.",
		agent: `const parts = text.split('.').reverse();
submit({date: parts.map(n => String(n).padStart(2, '0')).join('-')})`,
		drafts: []string{
			`submit({date: {'3.3.2022': '2022-03-03', '4.4.2023': '2023-04-04'}[text]})`,
			`const parts = text.split('.').reverse();
submit({date: parts.map(n => String(n).padStart(2, '0')).join('-')})`,
		},
		problems: []string{`it contains expected answers: "`},
		question: func(i int) (in, want map[string]any) {
			day := time.Date(2020+i, time.Month(i%12+1), i+1, 0, 0, 0, 0, time.UTC)
			return map[string]any{"text": day.Format("2.1.2006")}, map[string]any{"date": day.Format(time.DateOnly)}
		},
	},
	"errors in a log": {
		signature: "log: str -> errors: int, last: str", instructions: "Count the errors, and find the last one, or \"\".",
		agent: `const all = log.split('\n').filter(l => l.startsWith('E '));
submit({errors: all.length, last: all.at(-1) ?? ''})`,
		drafts: []string{`const all = log.split('\n').filter(l => l.startsWith('E '));
submit({errors: all.length, last: all.at(-1) ?? ''})`},
		question: func(i int) (in, want map[string]any) {
			var log, last string
			for n := range i % 3 {
				last = fmt.Sprintf("E disk %d of %d", n, i)
				log += "I fine\n" + last + "\n"
			}
			return map[string]any{"log": log}, map[string]any{"errors": i % 3, "last": last}
		},
	},
	"invoice": {
		signature: "net: float, country: str -> gross: float", instructions: "Add the tax of the country, in cents.",
		agent:  `const rate = await shop.tax({country}); submit({gross: Math.round(net * (100 + rate)) / 100})`,
		drafts: []string{`const rate = await shop.tax({country}); submit({gross: Math.round(net * (100 + rate)) / 100})`},
		question: func(i int) (in, want map[string]any) {
			return map[string]any{"net": 100 * i, "country": "c" + strings.Repeat("c", i%5)},
				map[string]any{"gross": i * (101 + i%5)}
		},
	},
	"frequent words": {
		signature: "text: str -> word: str", instructions: "Find the most frequent word.",
		agent: `const n = {}; for (const w of text.toLowerCase().match(/\w+/g)) n[w] = (n[w] ?? 0) + 1;
submit({word: Object.keys(n).sort((a, b) => n[b] - n[a])[0]})`,
		drafts: []string{`const n = {}; for (const w of text.toLowerCase().match(/\w+/g)) n[w] = (n[w] ?? 0) + 1;
submit({word: Object.keys(n).sort((a, b) => n[b] - n[a])[0]})`},
		question: func(i int) (in, want map[string]any) {
			word := fmt.Sprintf("river%d", i)
			return map[string]any{"text": "The " + word + " and a " + word + ", " + word + "!"},
				map[string]any{"word": word}
		},
	},
	"nested records": {
		signature: "records: list[dict[str, int]] -> sums: dict[str, int]", instructions: "Add up the values of each key.",
		agent: `const sums = {};
for (const [k, v] of records.flatMap(Object.entries)) sums[k] = (sums[k] ?? 0) + v;
submit({sums})`,
		drafts: []string{`const sums = {};
for (const [k, v] of records.flatMap(Object.entries)) sums[k] = (sums[k] ?? 0) + v;
submit({sums})`},
		question: func(i int) (in, want map[string]any) {
			return map[string]any{"records": []any{map[string]int{"a": i, "b": 1}, map[string]int{"a": 2}}},
				map[string]any{"sums": map[string]int{"a": i + 2, "b": 1}}
		},
	},
	"held-out cases": {
		signature: "n: int -> kind: str", instructions: "Say whether the number is even or odd.",
		agent: `submit({kind: n % 2 ? 'odd' : 'even'})`,
		drafts: []string{
			`submit({kind: n < 20 ? (n % 2 ? 'odd' : 'even') : 'large'})`,
			`submit({kind: n % 2 ? 'odd' : 'even'})`,
		},
		problems: []string{"its score on the training examples is "},
		question: func(i int) (in, want map[string]any) {
			return map[string]any{"n": i + 10}, map[string]any{"kind": []string{"even", "odd"}[i%2]}
		},
	},
}

// world has the tools of the chores.
type world struct{ sent atomic.Int64 }

type byID struct {
	ID string `json:"id"`
}

func (w *world) tools(t *testing.T) *tools.Set {
	t.Helper()
	read := &tools.Hints{Class: tools.Read}
	in := func(namespace string, list ...*tools.Tool) (sources []tools.Source) {
		for _, tool := range list {
			tool.Namespace = namespace
			sources = append(sources, tool)
		}
		return sources
	}
	type page struct {
		Kind   string `json:"kind"`
		Cursor int    `json:"cursor,omitempty"`
	}
	type entries struct {
		Items []int `json:"items"`
		Next  int   `json:"next,omitempty"`
	}
	set, err := tools.NewSet(t.Context(), append(in("shop",
		tools.Func("orders", "", func(_ context.Context, o struct {
			Day int `json:"day"`
		}) ([]string, error) {
			return []string{"a", "b", "c"}[:o.Day%3+1], nil
		}, read),
		tools.Func("customer", "", func(_ context.Context, o byID) (map[string]string, error) {
			names := map[string]string{"a": "Anneliese", "b": "Bartholomew", "c": "Clementine"}
			return map[string]string{"name": names[o.ID]}, nil
		}, read),
		tools.Func("list", "", func(_ context.Context, p page) (entries, error) {
			const most = 3
			e := entries{Items: make([]int, min(most, len(p.Kind)-p.Cursor))}
			if p.Cursor+most < len(p.Kind) {
				e.Next = p.Cursor + most
			}
			return e, nil
		}, read),
		tools.Func("tax", "", func(_ context.Context, c struct {
			Country string `json:"country"`
		}) (int, error) {
			return len(c.Country), nil
		}, read)),
		in("mail", tools.Func("send", "", func(context.Context, struct {
			To string `json:"to"`
		}) (bool, error) {
			w.sent.Add(1)
			return true, nil
		}, &tools.Hints{Class: tools.Effect}))...)...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// fakes replaces the tools with effects.
func fakes() tools.Policy {
	return evaluate.Fakes(map[string]tools.Handler{
		"mail.send": func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("true"), nil },
	})
}

func fence(code string) string { return "```js\n" + code + "\n```" }

// asksForProgram is in the questions of Compile and in no others.
const asksForProgram = "for all questions"

func (c chore) model() *llmtest.Model {
	var drafts atomic.Int64
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if !strings.Contains(r.Text(), asksForProgram) {
			return llmtest.Reply{Text: fence(c.agent)}, nil
		}
		return llmtest.Reply{Text: "So:\n" + fence(c.drafts[drafts.Add(1)-1])}, nil
	})
}

type (
	values  = signature.Values
	example = evaluate.Example[values, values]
	codeAct = module.CodeAct[values, values]
)

func (c chore) examples(t *testing.T, n int) (list []example) {
	t.Helper()
	for i := range n {
		in, want := c.question(i)
		inputs, err := signature.ValuesOf(in)
		if err != nil {
			t.Fatal(err)
		}
		outputs, err := signature.ValuesOf(want)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, example{In: inputs, Want: outputs})
	}
	return list
}

func (c chore) codeAct(t *testing.T, model *llmtest.Model, set *tools.Set) *codeAct {
	t.Helper()
	box, err := sandbox.NewInProcess(&sandbox.Options{Limits: sandbox.Limits{Time: time.Hour, Compute: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	sig := signature.Must(signature.Parse(c.signature, c.instructions))
	return module.NewCodeAct(sig, model, box, set, nil)
}
