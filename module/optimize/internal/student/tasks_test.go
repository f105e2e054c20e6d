package student

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// A Row is an example of a task.
type Row struct {
	ID, Request, Answer string
	Note                string // feedback in words
}

// Rows makes n examples.
func (t *Task) Rows(seed uint64, n int) []Row {
	r := rand.New(rand.NewPCG(seed, 20))
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = t.row(r)
		rows[i].ID = fmt.Sprintf("%s-%d-%d", t.Name, seed, i+1)
	}
	return rows
}

// row makes an example with up to three pieces of different kinds.
func (t *Task) row(r *rand.Rand) Row {
	first := t.Steps[0]
	var pieces, rules []string
	for _, i := range r.Perm(len(first.Skills))[:1+r.IntN(min(3, len(first.Skills)))] {
		k := first.Skills[i]
		pieces = append(pieces, k.Kind+" "+k.Make(r))
		for j := range t.Steps {
			rules = append(rules, t.Steps[j].skill(k.Kind).Rule)
		}
	}
	row := Row{Request: strings.Join(pieces, separator)}
	row.Answer = row.Request
	for i := range t.Steps {
		row.Answer = t.Steps[i].convert(row.Answer, func(*Skill, string) bool { return true })
	}
	if t.Notes {
		row.Note = strings.Join(rules, " ")
	}
	return row
}

// A Benchmark is a task with its simulated models.
type Benchmark interface {
	Title() string
	Instructions() []string // of the steps, at the beginning
	Calls() int             // of the student in a run
	Rows(seed uint64, n int) []Row
	Model() llms.Model
	Reflection() llms.Model
	Feedback(row Row, answer string) string // on a wrong answer, in words
}

// Benchmarks returns the tasks of this package.
func Benchmarks() (list []Benchmark) {
	for _, t := range Tasks() {
		list = append(list, t)
	}
	return append(list, Claims{}, Ledger{})
}

// Title returns the name of the task.
func (t *Task) Title() string { return t.Name }

// Instructions returns the instructions of the steps at the beginning.
func (t *Task) Instructions() (list []string) {
	for _, s := range t.Steps {
		list = append(list, s.Instructions)
	}
	return list
}

// Calls returns the number of calls in a run.
func (t *Task) Calls() int { return len(t.Steps) }

// Feedback returns the note of the example.
func (t *Task) Feedback(row Row, _ string) string { return row.Note }

// Tasks returns the tasks that convert pieces.
func Tasks() []*Task { return []*Task{records(), orders(), house(), products()} }

// records has conventions that the feedback states and that demos show.
func records() *Task {
	return &Task{
		Name: "records", Notes: true,
		Steps: []Step{{Input: "request", Output: "answer", Instructions: "Convert the record.", Skills: []Skill{
			date(0.6), price(0.5), name(0.65), phone(0.6), size(0.7), flag(0.6),
		}}},
	}
}

// orders has two steps, each with conventions of its own. The feedback is on the final answer.
func orders() *Task {
	return &Task{
		Name: "orders", Notes: true,
		Steps: []Step{
			{Input: "request", Output: "facts", Instructions: "Find the facts.", KeepKinds: true,
				Skills: []Skill{date(0.75), price(0.7), name(0.8), size(0.8)}},
			{Input: "facts", Output: "answer", Instructions: "Write the order.", Skills: []Skill{
				label("date", "DT", 0.75), label("price", "AMT", 0.8), label("name", "PER", 0.75),
				label("size", "DIM", 0.8)}},
		},
	}
}

// house has conventions that nobody states; demos and the expected answers show them.
func house() *Task {
	return &Task{
		Name: "house style",
		Steps: []Step{{Input: "request", Output: "answer", Instructions: "Write it in our style.", Skills: []Skill{
			city(0.6), level(0.6), part(0.65), flag(0.55), size(0.65),
		}}},
	}
}

// products is a task that nothing in a prompt makes better.
func products() *Task {
	return &Task{
		Name: "products", Notes: true,
		Steps: []Step{{Input: "request", Output: "answer", Instructions: "Compute it.", Skills: []Skill{
			product("product", 0.6), product("area", 0.65), product("cost", 0.6),
		}}},
	}
}
