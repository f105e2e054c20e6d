package evaluate_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// Facts has an output of each kind.
type Facts struct {
	Name  string   `json:"name"`
	Size  float64  `json:"size"`
	Tags  []string `json:"tags"`
	Alias *string  `json:"alias,omitempty"`
}

type metric = evaluate.Metric[Question, Facts]

func score(t *testing.T, m metric, want, got Facts) (module.Score, error) {
	t.Helper()
	return m(t.Context(), evaluate.Example[Question, Facts]{Want: want, Note: "Look again."},
		&module.Prediction[Facts]{Output: got})
}

func TestFieldMetrics(t *testing.T) {
	t.Parallel()
	want := Facts{Name: "The Old Bridge", Size: 10, Tags: []string{"stone", "river"}}
	named := func(name string) Facts { f := want; f.Name = name; return f }
	sized := func(size float64) Facts { f := want; f.Size = size; return f }
	tagged := func(tags ...string) Facts { f := want; f.Tags = tags; return f }
	alias := "x"
	aliased := want
	aliased.Alias = &alias
	for name, test := range map[string]struct {
		metric metric
		got    Facts
		value  float64
		parts  string // "name=value" of some part
	}{
		"exact":                    {evaluate.ExactMatch[Question, Facts](), want, 1, "tags=1"},
		"exact, other case":        {evaluate.ExactMatch[Question, Facts](), named("the old bridge"), 0, "size=1"},
		"exact, of another output": {evaluate.ExactMatch[Question, Facts]("size"), named("x"), 1, ""},
		"exact, an optional more":  {evaluate.ExactMatch[Question, Facts](), aliased, 0, "alias=0"},
		"exact, optional in none":  {evaluate.ExactMatch[Question, Facts]("alias"), want, 1, ""},
		"text":                     {evaluate.TextMatch[Question, Facts]("name"), named(" old, BRIDGE!"), 1, ""},
		"text, another":            {evaluate.TextMatch[Question, Facts]("name"), named("new bridge"), 0, ""},
		"F1":                       {evaluate.F1[Question, Facts]("name"), named("an old stone bridge"), 0.8, ""},
		"F1, nothing in common":    {evaluate.F1[Question, Facts]("name"), named("tower"), 0, ""},
		"F1, only articles":        {evaluate.F1[Question, Facts]("name"), named("the"), 0, ""},
		"F1 of a number":           {evaluate.F1[Question, Facts]("name", "size"), sized(10), 1, "size=1"},
		"contains":                 {evaluate.Contains[Question, Facts]("name"), named("It is the old bridge."), 1, ""},
		"contains, part of a word": {evaluate.Contains[Question, Facts]("name"), named("old bridges"), 0, ""},
		"text, missing in both":    {evaluate.TextMatch[Question, Facts]("alias"), want, 1, ""},
		"text, not expected":       {evaluate.TextMatch[Question, Facts]("alias"), aliased, 0, ""},
		"within":                   {evaluate.Within[Question, Facts](0.5, "size"), sized(10.5), 1, ""},
		"within, too far":          {evaluate.Within[Question, Facts](0.5, "size"), sized(10.6), 0, ""},
		"fields":                   {evaluate.JSONFields[Question, Facts]("name", "size"), sized(3), 0.5, "name=1"},
		"set": {evaluate.SetMatch[Question, Facts]("tags"), tagged("river", "stone", "river"), 1,
			"recall=1"},
		"set, one more": {evaluate.SetMatch[Question, Facts]("tags"), tagged("river", "stone", "x", "y"), 2. / 3,
			"precision=0.5"},
		"set, none": {evaluate.SetMatch[Question, Facts]("tags"), tagged(), 0, "recall=0"},
	} {
		s, err := score(t, test.metric, want, test.got)
		if err != nil || s.Value != test.value {
			t.Errorf("%s: got %v, %v", name, s, err)
		}
		if part, value, ok := strings.Cut(test.parts, "="); ok {
			if got := s.Parts[part]; got != map[string]float64{"0": 0, "1": 1, "0.5": 0.5}[value] {
				t.Errorf("%s: parts %v", name, s.Parts)
			}
		}
		if (s.Feedback == "") != (test.value == 1) || s.Feedback != "" && !strings.HasSuffix(s.Feedback, "\nLook again.") {
			t.Errorf("%s: feedback %q", name, s.Feedback)
		}
	}
}

func TestFieldMetricMistakes(t *testing.T) {
	t.Parallel()
	want := Facts{Name: "x", Tags: []string{"a"}}
	for text, m := range map[string]metric{
		`has no output "naem"; did you mean "name"?`:        evaluate.ExactMatch[Question, Facts]("naem"),
		`output "x"; it has ["name" "size" "tags" "alias"]`: evaluate.ExactMatch[Question, Facts]("x"),
		`output "tags" of the expected answer: not a s`:     evaluate.F1[Question, Facts]("tags"),
		`output "name" of the expected answer: not a n`:     evaluate.Within[Question, Facts](1),
		`output "name" of the expected answer: not a l`:     evaluate.SetMatch[Question, Facts](),
	} {
		_, err := score(t, m, want, want)
		contains(t, err, text)
	}
}

// Numbers are equal if their values are, and integers are compared by all their digits.
func TestExactMatchOfJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		want, got string
		equal     bool
	}{
		{`1`, `1.0`, true},
		{`100`, `1e2`, true},
		{`0`, `-0`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`9007199254740993.0`, `9007199254740992.0`, false},
		{`1e20`, `100000000000000000000`, true},
		{`-12.50e-1`, `-1.25`, true},
		{`0.0`, `-0e5`, true},
		{`1e999999999`, `1e999999998`, false},
		{`1e-99999999999999999999`, `0`, false},
		{`{"a": 1, "b": [2]}`, `{"b": [2.0], "a": 1}`, true},
		{`[1, 2]`, `[2, 1]`, false},
		{`"1"`, `1`, false},
		{`1e999`, `1e998`, false},
		{`"<"`, `"\u003c"`, true},
	} {
		values := func(raw string) signature.Values { return signature.Values{{Name: "v", JSON: []byte(raw)}} }
		s, err := evaluate.ExactMatch[Question, signature.Values]()(t.Context(),
			evaluate.Example[Question, signature.Values]{Want: values(test.want)},
			&module.Prediction[signature.Values]{Output: append(values(test.got), signature.Value{Name: "reasoning"})})
		if err != nil || (s.Value == 1) != test.equal {
			t.Errorf("%s and %s: %v, %v", test.want, test.got, s, err)
		}
	}
}

// A text of which normalizing leaves nothing is compared with its articles or its punctuation.
func TestTextsOfArticles(t *testing.T) {
	t.Parallel()
	type scores struct{ text, f1, contains float64 }
	for _, test := range []struct {
		want, got string
		scores
	}{
		{"A", "a.", scores{1, 1, 1}},
		{"A", "The", scores{0, 0, 0}},
		{"A", "", scores{0, 0, 0}},
		{"A", "It is A.", scores{0, 0.5, 1}},
		{"+", " + ", scores{1, 1, 1}},
		{"+", "-", scores{0, 0, 0}},
		{"+", "a + b", scores{0, 0.5, 1}},
		{"", "", scores{1, 1, 1}},
		{"", "x", scores{0, 0, 0}},
		{"the cat", "cat!", scores{1, 1, 1}},
		{"1.5", "15", scores{1, 1, 1}}, // as in SQuAD
	} {
		value := func(m metric) float64 {
			s, err := score(t, m, Facts{Name: test.want}, Facts{Name: test.got})
			if err != nil {
				t.Fatal(err)
			}
			return s.Value
		}
		got := scores{value(evaluate.TextMatch[Question, Facts]("name")), value(evaluate.F1[Question, Facts]("name")),
			value(evaluate.Contains[Question, Facts]("name"))}
		if got != test.scores {
			t.Errorf("%q and %q: got %v, not %v", test.want, test.got, got, test.scores)
		}
	}
}

// What is not a list does not equal an empty one. Null does: Go writes a nil slice so.
func TestSetMatchOfJSON(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]float64{`"x"`: 0, `5`: 0, `{}`: 0, `[1]`: 0, `[]`: 1, `null`: 1} {
		values := func(raw string) signature.Values { return signature.Values{{Name: "v", JSON: []byte(raw)}} }
		s, err := evaluate.SetMatch[Question, signature.Values]()(t.Context(),
			evaluate.Example[Question, signature.Values]{Want: values("[]")},
			&module.Prediction[signature.Values]{Output: values(got)})
		if err != nil || s.Value != want {
			t.Errorf("%s: got %v, %v", got, s, err)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	model := llmtest.New(`{"feedback": "Too short.", "grade": 4}`)
	s, err := score(t, evaluate.Judge[Question, Facts](model, "It is long."), Facts{Name: "x"}, Facts{Name: "y"})
	if err != nil || s.Value != 0.4 || s.Feedback != "Too short." {
		t.Errorf("got %+v, %v", s, err)
	}
	for _, text := range []string{"Rubric: It is long.", `"name":"y"`, "Look again."} {
		if !strings.Contains(model.Requests()[0].Text(), text) {
			t.Errorf("no %q in %s", text, model.Requests()[0].Text())
		}
	}
	if _, err = score(t, evaluate.Judge[Question, Facts](model, ""), Facts{}, Facts{}); err == nil {
		t.Error("a judge without a reply gave a grade")
	}
}
