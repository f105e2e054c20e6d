package optimize

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"unicode"
)

// words returns the words of a string in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// The parameters of Okapi BM25.
const (
	saturation = 1.2  // how soon further occurrences of a word stop adding to the score (k1)
	dampening  = 0.75 // how much the length of a string lowers the score (b)
)

// wordIndex ranks strings by the words that they share with a query.
type wordIndex struct {
	counts  []map[string]int // the number of occurrences of each word in each string
	lengths []float64        // the number of words in each string
	mean    float64          // the mean of lengths
	having  map[string]int   // the number of strings with each word
}

func newWordIndex(texts []string) *wordIndex {
	x := &wordIndex{having: map[string]int{}}
	for _, text := range texts {
		counts, list := map[string]int{}, words(text)
		for _, w := range list {
			if counts[w]++; counts[w] == 1 {
				x.having[w]++
			}
		}
		x.counts, x.lengths = append(x.counts, counts), append(x.lengths, float64(len(list)))
		x.mean += float64(len(list)) / float64(len(texts))
	}
	return x
}

// scores returns the similarity of each string to the query.
func (x *wordIndex) scores(query string) []float64 {
	scores, seen := make([]float64, len(x.counts)), map[string]bool{}
	for _, w := range words(query) {
		if seen[w] || x.having[w] == 0 {
			continue
		}
		seen[w] = true
		rarity := math.Log(1 + (float64(len(x.counts)-x.having[w])+0.5)/(float64(x.having[w])+0.5))
		for i, counts := range x.counts {
			if n := float64(counts[w]); n > 0 {
				long := 1 - dampening + dampening*x.lengths[i]/max(x.mean, 1)
				scores[i] += rarity * n * (saturation + 1) / (n + saturation*long)
			}
		}
	}
	return scores
}

// stringsIn returns the strings in a JSON value, and its numbers as they are written.
func stringsIn(raw json.RawMessage) (list []string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			list = append(list, v)
		case json.Number:
			list = append(list, v.String())
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return list
}
