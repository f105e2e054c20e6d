package search

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWords is how many words of a query count.
const maxWords = 32

// maxQuery is how many bytes of a query count.
const maxQuery = 4 << 10

// fileName is the name of a file, which says no more than that it is one.
var fileName = regexp.MustCompile(`(?i)[\w/*-]*\.(txt|md|log|json|ya?ml|toml|ini|env|xml|html?|css|csv|tsv|xlsx?|docx?|pptx?|pdf|png|jpe?g|gif|svg|mp[34]|wav|zip|tar|gz|go|py|js|ts|tsx|rb|rs|java|c|cpp|h|sh|sql)\b`)

// maxPhrase is how many words in a row are looked up as one.
const maxPhrase = 4

// meaning returns the stems of a query's words, each once, and those of words
// that mean something together as one. If none of them says anything, all do.
func meaning(query string) []string {
	var said, all, telling []string
	query = fileName.ReplaceAllString(query, " file ")
	words(query, func(word []byte) bool {
		said = append(said, string(word))
		all = append(all, stem(string(word)))
		return len(all) < maxWords
	})
	taken := make([]bool, len(all)) // as the end of a phrase
	for i := range all {
		if taken[i] {
			continue
		}
		text, rest := longest(all, i)
		for _, at := range rest {
			taken[at] = true
		}
		if len(rest) > 0 || !silent()[said[i]] {
			telling = append(telling, text)
		}
	}
	if len(telling) == 0 {
		telling = all
	}
	return distinct(telling)
}

// longest is the longest phrase that begins with a word, and where the rest of
// it is. Between a verb and its particle there may be what it is about: throw the
// old ones away.
func longest(stems []string, from int) (text string, rest []int) {
	for n := min(maxPhrase, len(stems)-from); n > 1; n-- {
		if text = strings.Join(stems[from:from+n], "-"); related().meant[text] != nil {
			for i := range n - 1 {
				rest = append(rest, from+1+i)
			}
			return text, rest
		}
	}
	for at := from + 2; at < min(from+6, len(stems)); at++ {
		if text = stems[from] + "-" + stems[at]; particles[stems[at]] && related().meant[text] != nil {
			return text, []int{at}
		}
	}
	return stems[from], nil
}

// particles are what a verb may have behind its object.
var particles = map[string]bool{
	"asid": true, "away": true, "back": true, "down": true, "in": true, "off": true,
	"on": true, "out": true, "over": true, "together": true, "up": true,
}

// variant is a word of the index that a word of the query may mean, and how
// likely that is.
type variant struct {
	term   int32
	factor float32
}

// What a word is worth that stands for another, and one that says little.
const (
	asSynonym = 0.6
	asHint    = 0.4
	asPrefix  = 0.6
	asTypo    = 0.5
	asFaint   = 0.6
)

// word is a word of a query with all that it may mean.
type word struct {
	variants []variant
	alien    bool // it means no word of the index; at most it hints at one
}

// meanings are what each word of a query may mean: itself, the words it begins,
// its synonyms; if none of them is known, the words of names that it resembles. A
// word of the index that is in the query stands for no other.
func (v *inverted) meanings(query string) []word {
	stems := meaning(query)
	taken := map[int32]bool{}
	for _, word := range stems {
		if term, ok := v.terms[word]; ok {
			taken[term] = true
		}
	}
	var all []word
	for _, stem := range stems {
		list := v.variants(stem)
		if term, ok := v.terms[stem]; ok {
			list = append(list, variant{term, 1})
		}
		known := slices.ContainsFunc(list, func(o variant) bool { return o.factor >= asSynonym })
		list = slices.DeleteFunc(list, func(o variant) bool { return o.factor < 1 && taken[o.term] })
		if faint()[stem] {
			for i := range list {
				list[i].factor *= asFaint
			}
		}
		all = append(all, word{list, !known && !unicode.IsDigit(rune(stem[0]))})
	}
	return all
}

// variants are what a word may mean besides itself.
func (v *inverted) variants(word string) []variant {
	var list []variant
	for _, other := range related().meant[word] {
		if term, ok := v.terms[other]; ok {
			list = append(list, variant{term, asSynonym})
		}
	}
	for _, other := range related().hinted[word] {
		if term, ok := v.terms[other]; ok {
			list = append(list, variant{term, asHint})
		}
	}
	if strings.Contains(word, "-") {
		return list
	}
	list = append(list, v.prefixed(word)...)
	if _, known := v.terms[word]; !known && len(list) == 0 {
		list = v.resembling(word)
	}
	return list
}

// prefixed are the words that a word begins, and those that begin it: repo and
// repository.
func (v *inverted) prefixed(word string) []variant {
	const shortest = 4
	var list []variant
	if len(word) < shortest {
		return nil
	}
	from, _ := slices.BinarySearch(v.sorted, word)
	for _, other := range v.sorted[from:] {
		if !strings.HasPrefix(other, word) {
			break
		}
		if other != word {
			list = append(list, variant{v.terms[other], asPrefix})
		}
	}
	for end := shortest; end < len(word); end++ {
		if term, ok := v.terms[word[:end]]; ok && 2*end > len(word) {
			list = append(list, variant{term, asPrefix})
		}
	}
	return list
}

// resembling are the words of names from which a word differs by a slip or two.
// The first letter is right. Short words resemble too many others.
func (v *inverted) resembling(word string) []variant {
	slips := min(2, len(word)/4)
	if len(word) < 5 {
		return nil
	}
	var list []variant
	from, _ := slices.BinarySearch(v.sorted, word[:1])
	for _, other := range v.sorted[from:] {
		if other[0] != word[0] {
			break
		}
		if term := v.terms[other]; v.named[term] && slipped(word, other, slips) {
			list = append(list, variant{term, asTypo})
		}
	}
	return list
}

// slipped says whether so many letters that are wrong, missing, too many or
// exchanged with the next make one word of the other.
func slipped(a, b string, most int) bool {
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return false
	}
	rows := [3][maxWord + utf8.UTFMax + 1]int{}
	last, row, next := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			wrong := 1
			if a[i] == b[j] {
				wrong = 0
			}
			next[j+1] = min(row[j]+wrong, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], last[j-1]+1)
			}
		}
		last, row, next = row, next, last
	}
	return row[len(b)] <= most
}

func distinct(list []string) []string {
	var kept []string
	for _, s := range list {
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}
