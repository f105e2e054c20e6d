package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

// ExactMatch returns a metric whose value is 1 if the named outputs are equal as JSON, and 0 otherwise. Without names,
// it compares all outputs of the expected answer. Numbers are equal if their values are, such as 1 and 1.0.
func ExactMatch[In, Out any](outputs ...string) Metric[In, Out] {
	return compare[In, Out](slices.Min, outputs, compareJSON)
}

func compareJSON(want, got json.RawMessage) (module.Score, error) {
	return module.Score{Value: truth(canonical.Equal(want, got))}, nil
}

// TextMatch returns a metric whose value is 1 if the strings are equal apart from case, punctuation, English articles
// and white space, and 0 otherwise. This is the exact match of SQuAD (Rajpurkar et al., EMNLP 2016). If the expected
// string consists only of articles or punctuation, such as "A" or "+", these are compared, too.
//
// Numbers are compared as strings, so 1.5 equals 15, and -5 equals 5. Use [ExactMatch] or [Within] for numbers.
func TextMatch[In, Out any](outputs ...string) Metric[In, Out] {
	return compareTexts[In, Out](slices.Min, outputs, func(want, got string) float64 {
		return truth(slices.Equal(wordsOf(want, got)))
	})
}

// F1 returns a metric whose value is the harmonic mean of precision and recall of the words in the strings, normalized
// as in [TextMatch]: the F1 score of SQuAD (Rajpurkar et al., EMNLP 2016). For several outputs, the value is the mean.
// Use [Within] for numbers.
func F1[In, Out any](outputs ...string) Metric[In, Out] {
	return compareTexts[In, Out](average, outputs, f1)
}

// Contains returns a metric whose value is 1 if each string contains the expected string as a sequence of whole words,
// normalized as in [TextMatch], and 0 otherwise. Use [Within] for numbers.
func Contains[In, Out any](outputs ...string) Metric[In, Out] {
	return compareTexts[In, Out](slices.Min, outputs, func(want, got string) float64 {
		w, g := wordsOf(want, got)
		return truth(strings.Contains(" "+strings.Join(g, " ")+" ", " "+strings.Join(w, " ")+" "))
	})
}

// Within returns a metric whose value is 1 if each number differs from the expected number by at most the tolerance,
// and 0 otherwise.
func Within[In, Out any](tolerance float64, outputs ...string) Metric[In, Out] {
	return compare[In, Out](slices.Min, outputs, func(want, got json.RawMessage) (module.Score, error) {
		w, err := numberOf(want)
		if err != nil {
			return module.Score{}, err
		}
		g, err := numberOf(got)
		return module.Score{Value: truth(err == nil && math.Abs(w-g) <= tolerance)}, nil
	})
}

func numberOf(raw json.RawMessage) (float64, error) {
	var number *float64
	if err := json.Unmarshal(raw, &number); err != nil || number == nil {
		return 0, fmt.Errorf("not a number: %s", clip(raw))
	}
	return *number, nil
}

// JSONFields returns a metric whose value is the fraction of the outputs that are equal as JSON, as in [ExactMatch].
func JSONFields[In, Out any](outputs ...string) Metric[In, Out] {
	return compare[In, Out](average, outputs, compareJSON)
}

// SetMatch returns a metric that compares lists as sets. Its value is the harmonic mean (F1) of precision, the fraction
// of the items in the answer that are expected, and recall, the fraction of the expected items that are in the answer.
// Both are in Score.Parts. Items are equal as in [ExactMatch]. An answer that is not a list is wrong. For several
// outputs, the value is the mean.
func SetMatch[In, Out any](outputs ...string) Metric[In, Out] {
	return compare[In, Out](average, outputs, func(want, got json.RawMessage) (module.Score, error) {
		expected, err := itemsOf(want)
		if err != nil {
			return module.Score{}, err
		}
		items, err := itemsOf(got)
		if err != nil && got != nil { // not a list
			return module.Score{Parts: map[string]float64{"precision": 0, "recall": 0}}, nil
		}
		both := common(expected, items)
		s := module.Score{Value: 1, Parts: map[string]float64{
			"precision": share(both, len(items)), "recall": share(both, len(expected)),
		}}
		if len(expected)+len(items) > 0 {
			s.Value = harmonic(both, len(expected), len(items))
		}
		return s, nil
	})
}

// share returns n divided by all, or 1 if both are 0.
func share(n, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(n) / float64(all)
}

// itemsOf returns the distinct items of a list as canonical JSON.
func itemsOf(raw json.RawMessage) ([]string, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("not a list: %s", clip(raw))
	}
	items := make([]string, len(list))
	for i, item := range list {
		items[i] = canonical.JSON(item)
	}
	slices.Sort(items)
	return slices.Compact(items), nil
}

// pair holds the expected and the actual value of an output.
type pair struct {
	name      string
	want, got json.RawMessage
}

// pairsOf returns the outputs to compare: the named ones, or all outputs of the expected answer if there are no names.
func pairsOf[In, Out any](e Example[In, Out], got *module.Prediction[Out], names []string) ([]pair, error) {
	want, err := signature.ValuesOf(e.Want)
	if err != nil {
		return nil, err
	}
	answer, err := signature.ValuesOf(got.Output)
	if err != nil {
		return nil, err
	}
	known := namesOf(e.Want, want)
	if len(names) == 0 {
		names = known
	}
	if len(names) == 0 {
		return nil, errors.New("the expected answer is empty")
	}
	pairs := make([]pair, len(names))
	for i, name := range names {
		pairs[i].name = name
		pairs[i].want, _ = want.Get(name)
		pairs[i].got, _ = answer.Get(name)
		if pairs[i].want == nil && !slices.Contains(known, name) {
			return nil, noOutput(name, known)
		}
	}
	return pairs, nil
}

// noOutput returns the error for the name of an output that the expected answer does not have.
func noOutput(name string, known []string) error {
	if near := similar.Nearest(name, known); near != "" {
		return fmt.Errorf("the expected answer has no output %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("the expected answer has no output %q; it has %q", name, known)
}

// namesOf returns the names of the outputs of an expected answer. For a struct, these are the names of all fields,
// including fields that are omitted from its JSON; for other types, the names of the values.
func namesOf(v any, values signature.Values) []string {
	var names []string
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Struct {
		for _, value := range values {
			names = append(names, value.Name)
		}
		return names
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" && !(f.Anonymous && name == "") {
			names = append(names, cmp.Or(name, f.Name))
		}
	}
	return names
}

// compare returns a metric that compares each output and combines the values.
func compare[In, Out any](
	combine func([]float64) float64, names []string, compareOne func(want, got json.RawMessage) (module.Score, error),
) Metric[In, Out] {
	return func(_ context.Context, e Example[In, Out], got *module.Prediction[Out]) (module.Score, error) {
		pairs, err := pairsOf(e, got, names)
		if err != nil {
			return module.Score{}, err
		}
		values, parts := make([]float64, len(pairs)), map[string]float64{}
		for i, p := range pairs {
			one, err := compareOne(p.want, p.got)
			if err != nil {
				return module.Score{}, fmt.Errorf("output %q of the expected answer: %w", p.name, err)
			}
			values[i] = one.Value
			prefix := ""
			if len(pairs) > 1 {
				parts[p.name], prefix = one.Value, p.name+"."
			}
			for name, value := range one.Parts {
				parts[prefix+name] = value
			}
		}
		return module.Score{Value: combine(values), Feedback: feedback(pairs, values, e.Note), Parts: parts}, nil
	}
}

// compareTexts returns a metric that compares strings. An output that is not a string is wrong.
func compareTexts[In, Out any](
	combine func([]float64) float64, names []string, value func(want, got string) float64,
) Metric[In, Out] {
	return compare[In, Out](combine, names, func(want, got json.RawMessage) (module.Score, error) {
		w, err := textOf(want)
		if err != nil {
			return module.Score{}, err
		}
		g, err := textOf(got)
		if err != nil {
			return module.Score{}, nil
		}
		return module.Score{Value: value(w, g)}, nil
	})
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// feedback describes the outputs that differ, and adds the note of the example. It returns "" if all outputs are right.
func feedback(pairs []pair, values []float64, note string) string {
	var lines []string
	for i, p := range pairs {
		if values[i] < 1 {
			lines = append(lines, fmt.Sprintf("%s: expected %s, got %s.", p.name, clip(p.want), clip(p.got)))
		}
	}
	if len(lines) > 0 && note != "" {
		lines = append(lines, note)
	}
	return strings.Join(lines, "\n")
}
