package module

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Majority returns the most frequent answer; if several are equally frequent, it returns the first of them. The
// function key returns the value to compare, such as one field of the output: any value that encoding/json can
// encode. If key is nil, whole outputs are compared.
//
//	module.Majority(answers, func(v Verdict) any { return v.Mood })
//
// Two values are equal if their JSON is equal. The order of members does not matter, nor do case, English articles,
// spacing and punctuation in texts; punctuation within numbers does.
//
// The trajectories of all answers are in Trajectory.Runs of the prediction. Majority returns an error if there
// are no answers, a value cannot be encoded, or key panics.
func Majority[Out any](answers []*Prediction[Out], key func(Out) any) (*Prediction[Out], error) {
	if len(answers) == 0 || slices.Contains(answers, nil) {
		return nil, errNoPredictions
	}
	var all Trajectory
	keys, votes := make([]string, len(answers)), map[string]int{}
	for i, a := range answers {
		var err error
		if keys[i], err = ballot(a.Output, key); err != nil {
			return nil, fmt.Errorf("module: answer %d cannot be counted: %w", i+1, err)
		}
		votes[keys[i]]++
		all.Runs = append(all.Runs, a.Trajectory)
	}
	first := 0
	for i := range answers {
		if votes[keys[i]] > votes[keys[first]] {
			first = i
		}
	}
	all.Chosen = first + 1
	return &Prediction[Out]{Output: answers[first].Output, Trajectory: all}, nil
}

var errNoPredictions = errors.New("module: there are no predictions, or one of them is nil; " +
	"pass those that are answers, such as Results.Predictions")

// ballot returns what is counted of an output.
func ballot[Out any](out Out, key func(Out) any) (vote string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = newPanic("the key", p)
		}
	}()
	var counted any = out
	if key != nil {
		counted = key(out)
	}
	raw, err := json.Marshal(counted)
	if err != nil {
		return "", err
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	raw, err = json.Marshal(canonical(value))
	return string(raw), err
}

// canonical returns the same value for all values that count as equal.
func canonical(value any) any {
	switch value := value.(type) {
	case string:
		return normalize(value)
	case json.Number:
		return shortest(value)
	case []any:
		for i := range value {
			value[i] = canonical(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = canonical(value[name])
		}
	}
	return value
}

// shortest writes 1.0 and 10e-1 as 1. It leaves integers unchanged.
func shortest(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") {
		return n
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
}

// normalize returns a text in lower case, without articles, punctuation and additional space. A text of which
// nothing would be left, such as the choice "A", is only converted to lower case.
func normalize(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	words := strings.Fields(withoutPunctuation(text))
	words = slices.DeleteFunc(words, func(w string) bool { return w == "a" || w == "an" || w == "the" })
	if len(words) == 0 {
		return text
	}
	return strings.Join(words, " ")
}

// withoutPunctuation removes the punctuation of sentences and of Markdown, except within numbers, such as -1,
// .5, 3.5 and 12:30. Other characters have a meaning, as in C++ and 5%.
func withoutPunctuation(text string) string {
	var b strings.Builder
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		switch {
		case strings.ContainsRune(".,:-", r) && startsNumber.MatchString(rest):
			b.WriteRune(r)
		case strings.ContainsRune("-–—", r):
			b.WriteByte(' ')
		case !strings.ContainsRune(".,:;!?¡¿…'\"`´‘’“”„«»()[]{}*_", r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

var startsNumber = regexp.MustCompile(`^\.?[0-9]`)
