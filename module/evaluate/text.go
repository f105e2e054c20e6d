package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
)

// wordsOf returns the words of an expected string and of an answer for a comparison. If normalization leaves no word of
// the expected string, both strings keep their articles; if still no word is left, they keep everything.
func wordsOf(want, got string) (w, g []string) {
	for _, words := range []func(string) []string{normalize, plainWords, strings.Fields} {
		if w, g = words(want), words(got); len(w) > 0 {
			break
		}
	}
	return w, g
}

// normalize returns the words of a string as SQuAD compares them: in lower case, without ASCII punctuation and English
// articles. It follows normalize_answer in the official script of Rajpurkar et al., "SQuAD: 100,000+ Questions for
// Machine Comprehension of Text" (EMNLP 2016), except that it removes articles only if they stand between spaces.
func normalize(text string) []string {
	return slices.DeleteFunc(plainWords(text), func(w string) bool { return w == "a" || w == "an" || w == "the" })
}

// plainWords returns the words of a string in lower case and without ASCII punctuation.
func plainWords(text string) []string {
	return strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
			return -1
		}
		return r
	}, strings.ToLower(text)))
}

// f1 returns the F1 score of the words of got, as the script of SQuAD 2.0 computes it. If neither string has words, the
// score is 1; if only one of them has words, the score is 0.
func f1(want, got string) float64 {
	w, g := wordsOf(want, got)
	if len(w) == 0 || len(g) == 0 {
		return truth(len(w) == len(g))
	}
	return harmonic(common(w, g), len(w), len(g))
}

// common returns how many items two lists have in common. Repeated items count as often as they occur in both lists.
func common(want, got []string) int {
	counts := map[string]int{}
	for _, w := range want {
		counts[w]++
	}
	n := 0
	for _, g := range got {
		if counts[g] > 0 {
			counts[g]--
			n++
		}
	}
	return n
}

// harmonic returns the harmonic mean of the precision common/got and the recall common/want.
func harmonic(common, want, got int) float64 { return 2 * float64(common) / float64(want+got) }

func truth(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// textOf returns a JSON string, number or boolean as a string. It returns "" for null and for a missing value.
func textOf(raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case nil:
		return "", nil
	case map[string]any, []any:
		return "", fmt.Errorf("not a string: %s; use JSONFields or SetMatch to compare it", clip(raw))
	}
	return string(raw), nil
}

// clip returns a JSON value for a message, shortened if it is long.
func clip(raw json.RawMessage) string {
	const limit = 200 // bytes
	return cmp.Or(display.Text(display.Cut(string(raw), limit)), "nothing")
}
