package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// A list may be given as its only item, or as the words that there is none.

// single is the list of the one item that is given for it: lower back pain. Where it
// may be several, or no item at all, it is none.
func (s shape) single(text string) json.RawMessage {
	if s.items == nil || s.text || s.items.members != nil || s.items.items != nil {
		return nil
	}
	if s.items.allowed(Undecorated(text)) == nil && s.isNone(text) {
		return json.RawMessage("[]")
	}
	text = Undecorated(text)
	if !s.items.text || s.items.constants != nil || s.items.format != "" {
		if s.items.any || s.items.number() {
			return nil
		}
		if item := s.items.exact(text); item != nil {
			return encode([]json.RawMessage{item})
		}
		return nil
	}
	if !s.isItem(text) {
		return nil
	}
	return encode([]string{text})
}

// isItem reports whether a text is one thing by name, and no sentence.
func (s shape) isItem(text string) bool {
	words := wordsOf(text)
	most := 6
	if wordLists[s.lastName()] {
		most = 1
	}
	if len(words) == 0 || len(strings.Fields(text)) > most || !oneThing.MatchString(text) || len(words) == 1 && len([]rune(text)) < 2 {
		return false
	}
	if first := words[0]; chatter[first] && !articles[first] || contrasts[first] || len(words) > 1 && (missing(first) || struck.MatchString(text)) {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool {
		return joins[w] || verbs[w] && w != "about" || predicates[w] || s.isNoItem(w, len(words))
	})
}

// oneThing is written without what separates things.
var oneThing = regexp.MustCompile(`^\pL[\pL\pN]*[+#]*(?:(?: |-|\.|\. |['’])[\pL\pN]+[+#]*)*\.?(?: \([^()]+\))?$|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$`)

// joins are words between things.
var joins = wordSet("and or und oder et ou y o e with plus & then versus vs")

// predicates are words of sentences.
var predicates = wordSet("be has have had does did can cannot suffers suffered reports reported complains complained shows showed says said wants possible potential suspected alleged supposed confirmed whole entire only any each every")

// isNoItem reports whether a word says nothing that could be an item, alone or with
// others.
func (s shape) isNoItem(word string, of int) bool {
	if corrections[word] || contracted(word) || hedges[word] && of > 1 && !particles[word] && len(word) > 1 || collective[word] {
		return true
	}
	return of == 1 && (absent[word] || hedges[word] || contrasts[word] || truth[word] != "" || chatter[word] || unsaid[word] || strings.Contains(word, strings.TrimSuffix(s.lastName(), "s")))
}

// unsaid are words of those who do not say what was asked for.
var unsaid = wordSet("unknown pending nope error inapplicable keine keiner aucun aucune ninguno nessuno redacted here below above failed omitted withheld anonymous placeholder string yes no nobody noone")

// collective are words for several things, or for all.
var collective = wordSet("various several many multiple mixed all both everything everyone everybody anything something others same similar different few some more list array items strings")

// wordLists are lists of single words, between which there may be only blanks. There is
// nothing to list of hardly any text.
var wordLists = wordSet("tags keywords labels ingredients words topics colors colours hashtags categories")

// isNone reports whether a text says that a list has nothing in it: none reported, no
// symptoms.
func (s shape) isNone(text string) bool {
	m := noneAtAll.FindStringSubmatch(strings.Trim(text, " \n*_`()[]"))
	if m == nil || s.items == nil {
		return false
	}
	own := strings.TrimSuffix(s.lastName(), "s")
	switch noun := strings.ToLower(m[2]); {
	case m[1] == "" && noun == "":
		return len(m[3]) > 0 || !wordLists[s.lastName()]
	default:
		return own != "" && strings.TrimSuffix(noun, "s") == own
	}
}

var noneAtAll = regexp.MustCompile(`(?i)^(?:none|nothing|n/a|nil|-|–|—|(no) (?:known |relevant |further )?(\pL+))((?: (?:were |was |are |is )?(?:reported|mentioned|found|listed|identified|noted|described|present|detected|observed|recorded|specified|stated|given|provided|known|needed|required))?)(?: in the \pL+)?\.?$`)
