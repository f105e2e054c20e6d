package student_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/module/optimize/internal/student"
)

// TestProof runs the optimizers on the tasks of the simulated student: where a task teaches what an optimizer can use,
// it gains more than the interval, and elsewhere it does not lose. With WRIT_TEST_PROOF=1 it runs all of them with nine
// seeds, and logs the table of docs/measured/optimize.md.
func TestProof(t *testing.T) {
	t.Parallel()
	bench := proof{seeds: 1, test: 100, calls: []int{300}}
	if isFull() {
		bench = proof{seeds: 9, test: 200, calls: []int{300, 800}}
	}
	t.Log("| task | optimizer | calls allowed | before | after | gain | student calls | reflection calls | tokens |")
	t.Log("|---|---|---|---|---|---|---|---|---|")
	for _, task := range student.Benchmarks() {
		for _, calls := range bench.calls {
			for _, s := range searches() {
				if s.runs(task) {
					bench.check(t, task, s, calls)
				}
			}
		}
	}
	bench.control(t)
}

func isFull() bool { return os.Getenv("WRIT_TEST_PROOF") == "1" }

// A search is an optimizer of the proof.
type search struct {
	name  string
	by    optimize.Optimizer
	quick []string // the tasks on which it is always run
}

// runs reports whether the search is run on a task. Without runs,
// these two have no demos for the steps of a module.
func (s search) runs(task student.Benchmark) bool {
	if (s.name == "LabeledFewShot" || s.name == "KNNFewShot") && task.Calls() > 1 {
		return false
	}
	return isFull() || slices.Contains(s.quick, task.Title())
}

func searches() []search {
	return []search{
		{"LabeledFewShot", optimize.LabeledFewShot{}, nil},
		{"BootstrapFewShot", optimize.BootstrapFewShot{}, []string{"ledger"}},
		{"BootstrapRandomSearch", optimize.BootstrapRandomSearch{}, nil},
		{"KNNFewShot", optimize.KNNFewShot{}, nil},
		{"GEPA", optimize.GEPA{}, []string{"records", "claims"}},
		{"MIPROv2", optimize.MIPROv2{}, []string{"house style"}},
	}
}

type proof struct {
	seeds, test int
	calls       []int // of the student, per step of the task
}

// check runs a search with every seed, and compares what it found with the module as it was given.
func (p proof) check(t *testing.T, task student.Benchmark, s search, calls int) {
	t.Helper()
	var m measured
	for seed := range uint64(p.seeds) {
		m.run(t, p, task, s.by, calls, seed, 0)
	}
	t.Logf("| %s | %s | %d | %s", task.Title(), s.name, calls*task.Calls(), m.row())
	gain, margin := m.gain()
	switch learnable := task.Title() != "products"; {
	case learnable && gain <= margin:
		t.Errorf("%s gains %.3f ± %.3f on %s", s.name, gain, margin, task.Title())
	case gain < -margin:
		t.Errorf("%s loses %.3f ± %.3f on %s", s.name, -gain, margin, task.Title())
	}
}

// control shows that the bench can fail: random search over examples with wrong answers gains nothing.
func (p proof) control(t *testing.T) {
	t.Helper()
	tasks := student.Benchmarks()
	if !isFull() {
		tasks = tasks[:1]
	}
	for _, task := range tasks {
		calls := slices.Max(p.calls)
		var m measured
		for seed := range uint64(p.seeds) {
			m.run(t, p, task, optimize.BootstrapRandomSearch{}, calls, seed, 1)
		}
		t.Logf("| %s, wrong answers | BootstrapRandomSearch | %d | %s", task.Title(), calls*task.Calls(), m.row())
		if gain, margin := m.gain(); gain > margin {
			t.Errorf("the search gains %.3f ± %.3f on %s from wrong answers", gain, margin, task.Title())
		}
	}
}

// measured is what several runs of a search found.
type measured struct {
	before, after [][]float64 // for each search, the scores on its test set
	spent         optimize.Spent
}

// run makes one search. The answers of its examples are those of examples that are shift places further.
func (m *measured) run(
	t *testing.T, p proof, task student.Benchmark, by optimize.Optimizer, calls int, seed uint64, shift int,
) {
	t.Helper()
	sets := optimize.Data[asked, answered]{
		Train: shifted(rows(task, 100+seed, 40), shift), Val: shifted(rows(task, 200+seed, 40), shift),
	}
	start := newSolver(t, task)
	r, err := optimize.Run(t.Context(), start, by, sets, exact(task), &optimize.Options{
		Budget:     optimize.Budget{StudentCalls: calls * task.Calls()},
		Reflection: task.Reflection(),
		Seed:       seed,
	})
	if err != nil {
		t.Fatal(err)
	}
	test := rows(task, 300+seed, p.test)
	m.before = append(m.before, scores(t, task, start, test))
	m.after = append(m.after, scores(t, task, r.Module, test))
	m.spent.StudentCalls += r.Spent.StudentCalls
	m.spent.ReflectionCalls += r.Spent.ReflectionCalls
	m.spent.InputTokens += r.Spent.InputTokens + r.Spent.OutputTokens
}

// row returns the cells of a table, the calls and tokens per run.
func (m *measured) row() string {
	gain, margin := m.gain()
	n := len(m.before)
	return fmt.Sprintf("%.0f %% | %.0f %% | %+.0f ± %.0f | %d | %d | %d |",
		100*average(slices.Concat(m.before...)), 100*average(slices.Concat(m.after...)), 100*gain, 100*margin,
		m.spent.StudentCalls/n, m.spent.ReflectionCalls/n, m.spent.InputTokens/n)
}

// gain returns the mean of the paired differences, and half of its 95 % interval. The differences are those between the
// means of each search, or those between the scores of the examples if there was only one search.
func (m *measured) gain() (gain, margin float64) {
	var gains []float64
	for i, before := range m.before {
		for j := range before {
			gains = append(gains, m.after[i][j]-before[j])
		}
	}
	quantile := 1.96
	if n := len(m.before); n > 1 {
		perSearch := slices.Collect(slices.Chunk(gains, len(gains)/n))
		gains = nil
		for _, of := range perSearch {
			gains = append(gains, average(of))
		}
		quantile = 2.306 // of Student's t distribution with eight degrees of freedom, for nine searches
	}
	gain = average(gains)
	var squares float64
	for _, g := range gains {
		squares += (g - gain) * (g - gain)
	}
	n := float64(len(gains))
	return gain, quantile * math.Sqrt(squares/(n-1)/n)
}

func average(numbers []float64) float64 {
	sum := 0.0
	for _, x := range numbers {
		sum += x
	}
	return sum / float64(len(numbers))
}

func scores(t *testing.T, task student.Benchmark, m *solver, test []evaluate.Example[asked, answered]) []float64 {
	t.Helper()
	var all []float64
	for _, e := range test {
		pred, err := m.Run(t.Context(), e.In)
		if err != nil {
			t.Fatal(err)
		}
		score, _ := exact(task)(t.Context(), e, pred)
		all = append(all, score.Value)
	}
	return all
}

func rows(task student.Benchmark, seed uint64, n int) []evaluate.Example[asked, answered] {
	var all []evaluate.Example[asked, answered]
	for _, r := range task.Rows(seed, n) {
		all = append(all, evaluate.Example[asked, answered]{
			ID: r.ID, In: asked{r.Request}, Want: answered{r.Answer}, Note: r.Note,
		})
	}
	return all
}

// shifted gives every example the answer of another one, at least so many places further, that has another answer.
func shifted(all []evaluate.Example[asked, answered], places int) []evaluate.Example[asked, answered] {
	moved := slices.Clone(all)
	for i := range moved {
		from := (i + places) % len(all)
		for places > 0 && all[from].Want == all[i].Want {
			from = (from + 1) % len(all)
		}
		moved[i].Want = all[from].Want
	}
	return moved
}
