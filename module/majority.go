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

// Majority returns the answer that was given most often; of those that were given
// equally often, the one that was given first. The function key says what is
// counted: any value that is JSON, such as one field of the output. Nil counts all
// of the output.
//
//	module.Majority(answers, func(v Verdict) any { return v.Mood })
//
// Two values are the same if they are the same JSON, whatever the order of the
// members, and without regard to what the writing of a text does not tell: the
// case of its letters, English articles, marks of punctuation that are not part of
// a number, and space.
//
// The prediction's Trajectory.Runs are the trajectories of all answers. The
// error says that there are none, which of them is not JSON, or that key has panicked.
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

var errNoPredictions = errors.New("module: there are no predictions, or a nil one among them; pass those that are answers, such as Results.Predictions")

// ballot is what is counted of an output.
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

// canonical is a value in the one form of all those that are the same.
func canonical(value any) any {
	switch value := value.(type) {
	case string:
		return plainWords(value)
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

// shortest writes 1.0 and 10e-1 as 1. Integers remain exact.
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

// plainWords is a text without what its writing does not tell. One of which
// nothing would be left, such as the article that is the letter of a choice, is
// kept.
func plainWords(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	words := strings.Fields(withoutPunctuation(text))
	words = slices.DeleteFunc(words, func(w string) bool { return w == "a" || w == "an" || w == "the" })
	if len(words) == 0 {
		return text
	}
	return strings.Join(words, " ")
}

// withoutPunctuation leaves out the marks of sentences and of Markdown, but for
// those that are part of a number, as in -1, .5, 3.5 and 12:30. Others, as in C++
// and 5%, tell something.
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
