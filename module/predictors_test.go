package module_test

import (
	"bytes"
	"fmt"
	"log"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
)

type sumPredict = module.Predict[orders, sum]

func newSum() *sumPredict { return module.NewPredict(adding, llmtest.New(), nil) }

func paths(m any) string {
	var list []string
	for path := range module.Predictors(m) {
		list = append(list, path)
	}
	return strings.Join(list, " ")
}

type stages struct{ *sumPredict }

type embedded struct {
	module.Predict[orders, sum]
	lower
	Named stages
}

type lower struct{ Within *sumPredict }

type loop struct {
	Ask  *sumPredict
	Next *loop
	Any  []any
}

type keyed map[string]any

func TestPredictorsPaths(t *testing.T) {
	t.Parallel()
	one := newSum()
	ring := &loop{Ask: newSum()}
	ring.Next, ring.Any = ring, []any{ring, nil, newSum()}
	for _, test := range []struct {
		name string
		m    any
		want string
	}{
		{"nil", nil, ""},
		{"a nil pointer", (*sumPredict)(nil), ""},
		{"no module", 3, ""},
		{"a predictor", one.Predictor, "Predictor"},
		{"a module", one, "Predictor"},
		{"a zero module", &sumPredict{}, ""},
		{"a struct", pipeline{newSum(), newSum()}, "First Second"},
		{"a pointer to a struct", &pipeline{newSum(), nil}, "First"},
		{"shared", pipeline{one, one}, "First"},
		{"within another", struct{ Best any }{module.NewRefine(one, 2, fairly, 1, nil)}, "Best.Module Best.Advisor"},
		{"an interface", struct{ M module.Module[orders, sum] }{one}, "M"},
		{"embedded", &embedded{Predict: *newSum(), lower: lower{newSum()}, Named: stages{newSum()}}, "Predict lower.Within"},
		{"unexported", struct{ ask *sumPredict }{one}, ""},
		{"a slice", []*sumPredict{newSum(), nil, newSum()}, "[0] [2]"},
		{"an array", struct{ Two [2]*sumPredict }{[2]*sumPredict{newSum(), newSum()}}, "Two[0] Two[1]"},
		{"maps", keyed{"b": newSum(), "a c": keyed{"]": newSum()}, "": newSum()}, `[""] [a c]["]"] [b]`},
		{"a map with other keys", map[int]*sumPredict{1: newSum()}, ""},
		{"a cycle", ring, "Ask Any[2]"},
		{"the rest of a cycle", ring.Any, "[0].Ask [2]"},
	} {
		if got := paths(test.m); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// The iteration stops when the loop ends.
func TestPredictorsStops(t *testing.T) {
	t.Parallel()
	m := keyed{"a": newSum(), "b": []any{newSum()}, "c": struct{ X any }{newSum()}}
	for n := range 3 {
		seen := 0
		for range module.Predictors(m) {
			if seen++; seen > n {
				break
			}
		}
		if seen != n+1 {
			t.Errorf("got %d, want %d", seen, n+1)
		}
	}
}

// Predictors does not look through data whose type cannot hold modules.
func TestPredictorsPassesOverData(t *testing.T) { // not in parallel: it counts allocations
	m := struct {
		Data [1 << 24]byte
		Rows []struct{ A, B string }
		Ask  *sumPredict
	}{Rows: make([]struct{ A, B string }, 1<<20), Ask: newSum()}
	if got := testing.AllocsPerRun(1, func() { paths(&m) }); got > 100 {
		t.Errorf("got %v allocations", got)
	}
}

// A clone can be changed without changing the original, and has its form.
func TestClone(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]any{
		"a module":    newSum(),
		"a value":     *newSum(),
		"a struct":    pipeline{newSum(), newSum()},
		"a pointer":   &pipeline{newSum(), newSum()},
		"a predictor": newSum().Predictor,
		"nested":      module.NewBestOfN(newSum(), 2, fairly, 1, nil),
		"embedded":    &embedded{Predict: *newSum(), lower: lower{newSum()}},
		"containers":  keyed{"a": []*sumPredict{newSum(), nil}, "b": [1]any{newSum()}, "c": nil, "d": 4},
	} {
		before := paths(m)
		c := module.Clone(m)
		for _, p := range module.Predictors(c) {
			p.Hint = "changed"
		}
		for path, p := range module.Predictors(m) {
			if p.Hint != "" {
				t.Errorf("%s: %s of the original was changed", name, path)
			}
		}
		if reflect.TypeOf(c) != reflect.TypeOf(m) || paths(c) != before || before == "" {
			t.Errorf("%s: got the %T %s, want the %T %s", name, c, paths(c), m, before)
		}
	}
}

// Parts that contain no predictor are shared with the clone. What is shared within the original is
// shared within the clone.
func TestCloneShares(t *testing.T) {
	t.Parallel()
	type shared struct {
		First, Second *sumPredict
		List, Same    []*sumPredict
		Data          []any
		Model         *llmtest.Model
		Lock          *sync.Mutex
		secret        *int
	}
	one, model := newSum(), llmtest.New()
	list := []*sumPredict{one}
	m := &shared{one, one, list, list, []any{1}, model, new(sync.Mutex), new(int)}
	c := module.Clone(m)
	switch {
	case c == m, c.First == one, c.First.Predictor == one.Predictor, &c.List[0] == &m.List[0]:
		t.Error("a part with predictors was not copied")
	case c.First != c.Second, c.List[0] != c.First, &c.List[0] != &c.Same[0]:
		t.Error("a shared part is no longer shared")
	case &c.Data[0] != &m.Data[0], c.Model != m.Model, c.Lock != m.Lock, c.secret != m.secret:
		t.Error("a part without predictors was copied")
	case c.First.Predictor.Model != one.Predictor.Model, c.First.Predictor.Spec != one.Predictor.Spec:
		t.Error("the predictor has a different model or spec")
	}
}

func TestCloneOfACycle(t *testing.T) {
	t.Parallel()
	ring := &loop{Ask: newSum()}
	ring.Next, ring.Any = &loop{Next: ring}, []any{ring}
	c := module.Clone(ring)
	if c == ring || c.Next == ring.Next || c.Next.Next != c || c.Any[0] != any(c) || c.Ask == ring.Ask {
		t.Error("the clone does not have its own cycle")
	}
}

func TestCloneOfNil(t *testing.T) {
	t.Parallel()
	if module.Clone[any](nil) != nil || module.Clone(3) != 3 || module.Clone((*pipeline)(nil)) != nil {
		t.Error("a clone of a value without predictors differs")
	}
}

func ExamplePredictors() {
	model := llmtest.New()
	m := struct {
		Sort  *module.Predict[Review, Verdict]
		Reply map[string]*module.Predict[Review, Verdict]
	}{
		module.NewPredict(judge, model, nil),
		map[string]*module.Predict[Review, Verdict]{"praise": module.NewPredict(judge, model, nil)},
	}
	for path, p := range module.Predictors(m) {
		fmt.Println(path, "-", p.Spec.Instructions())
	}
	// Output:
	// Sort - Judge the review.
	// Reply[praise] - Judge the review.
}

// A module's state is saved and loaded into another one.
func ExampleSave() {
	learned := module.NewPredict(judge, llmtest.New(), nil)
	learned.Predictor.Hint = "Irony is not praise."
	var file bytes.Buffer
	if err := module.Save(&file, learned); err != nil {
		log.Fatal(err)
	}

	fresh := module.NewPredict(judge, llmtest.New(), nil)
	if err := module.Load(&file, fresh); err != nil {
		log.Fatal(err)
	}
	fmt.Println(fresh.Predictor.Hint)

	err := module.Load(strings.NewReader(`{"version": 9}`), fresh)
	fmt.Println(err)
	// Output:
	// Irony is not praise.
	// module: load: the state has version 9, but this program reads version 1
}
