package replies

import (
	"strings"
	"unicode"
)

// What is said behind an answer may explain it, or take it back. No list of
// words tells the two apart for certain, so these lists are long: what is on
// them costs one more question, and what is missing might cost the answer.

// corrections begin or announce another answer.
var corrections = wordSet(`wait actually correction corrections corrected apologies apologize apologise mistake mistaken
	mistakenly wrong incorrect incorrectly oops whoops ups scratch strike reconsider reconsidering reconsidered
	revise revised revising revision update updated edit edited amend amended meant instead rather should ought
	disregard ignore hmm hm unsure uncertain fairer reflection alternatively alternative withdraw retract error
	erroneous misread misspoke miscounted make could might perhaps maybe possibly however nope would
	twice disagree disagrees disputes contradicts denies changed change mind prefer better actual final correct otherwise recount recounting recounted alternatives guess guesses guessed guessing guesswork
	pardon erratum errata scusa scusi scusate correzione rectification disculpa disculpe vielmehr korrektur korrigiert falsch eigentlich stattdessen entschuldigung irrtum berichtigung erreur désolé désolée plutôt perdón corrección incorrecto`)

// hedges make a value uncertain that stands with them.
var hedges = wordSet(`or either between about approx approximately around roughly nearly almost least more less than
	unclear unknown if unless depends depending estimate estimated guess guessing assume assuming neither nor
	sorry half minus negative thousand thousands million millions billion billions hundred hundreds dozen percent
	presumably seemingly apparently arguably supposedly allegedly reportedly partly mostly somewhat fairly probably likely cannot etc above below over under k m bn pct really yet outweigh outweighs leaning tending`)

// contrasts make a value uncertain if what is said beside it begins with them.
var contrasts = wordSet("not no never but though although except nothing none")

func doubts(word string) bool { return hedges[word] || contrasts[word] }

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// wordSetOf is a set of phrases.
func wordSetOf(phrases ...string) map[string]bool {
	set := map[string]bool{}
	for _, p := range phrases {
		set[p] = true
	}
	return set
}

func contracted(word string) bool {
	return strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n’t")
}

// wordsOf returns the words and numbers of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	})
}
