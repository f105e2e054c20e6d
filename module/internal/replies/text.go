package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/signature"
)

// readText takes a text as it is, unless it may be more or less than was meant.
func readText(f signature.Field, g given, text string) (json.RawMessage, error) {
	fenced := text != g.text
	text, certain := withoutPraise(f, text)
	blocks, outside, openFence := fences(text)
	switch {
	case !certain:
		return nil, structural(f.Name, "has a remark on the text behind it; write the text alone, or as a JSON string if that belongs to it")
	case isChoice(text):
		return nil, structural(f.Name, "gives a choice; decide on one, or write the text as a JSON string")
	case wraps(f, text):
		return nil, structural(f.Name, "is given as an object with the field in it; give only the value, or write the text as a JSON string")
	case openFence:
		return nil, unended(f)
	case fenced:
		return Quote(text), nil
	case len(blocks) > 0 && isCode(f):
		return onlyCode(f, blocks, outside)
	case strings.Contains(text, "\n") && g.loose && g.open && goesOn(text):
		return nil, unended(f)
	case strings.Contains(text, "\n") && (g.ragged || g.open && !finished(f, text)):
		return nil, unended(f)
	case strings.Contains(text, "\n"):
		return Quote(text), nil
	}
	return oneLine(f, g, text)
}

// alternatives are texts of which each is marked off, so that either is the value.
var alternatives = regexp.MustCompile("^(?:\"[^\"\n]+\"|“[^”\n]+”|\\*\\*[^*\n]+\\*\\*|`[^`\n]+`)(?:, (?:\"[^\"\n]+\"|“[^”\n]+”|\\*\\*[^*\n]+\\*\\*|`[^`\n]+`))*,? (?:or|OR|/) (?:\"[^\"\n]+\"|“[^”\n]+”|\\*\\*[^*\n]+\\*\\*|`[^`\n]+`)[.?]?$")

// isChoice reports whether a text is of alternatives, and spares most the look.
func isChoice(text string) bool {
	return text != "" && strings.IndexByte("\"*`\xe2", text[0]) >= 0 && alternatives.MatchString(text)
}

// praise finds remarks on a text itself: This title captures both.
var praise = regexp.MustCompile(`^(?:This|The above|The) ([a-z]+) (?:captures?|reflects?|highlights?|conveys?|emphasi[sz]es|evokes?|summari[sz]es|hints|plays|balances|works because|is (?:concise|short|catchy|clear))\b`)

// withoutPraise is a text of one line without a remark on it below. Of a longer text,
// or of a remark with a second thought, it is not certain what was meant.
func withoutPraise(f signature.Field, text string) (alone string, certain bool) {
	at := strings.LastIndex(text, "\n\n")
	if at < 0 {
		return text, true
	}
	body, remark := strings.TrimSpace(text[:at]), text[at+2:]
	if m := praise.FindStringSubmatch(remark); m == nil || !sameName(f.Name, m[1]) {
		return text, true
	}
	return body, !strings.Contains(body, "\n") && !secondThought.MatchString(remark) && !(reply{}).takesBack(nil, remark)
}

func unended(f signature.Field) error {
	return structural(f.Name, "cannot be read: nothing says where the text ends; put the end marker behind it")
}

// wraps reports whether a text is an object with the field in it.
func wraps(f signature.Field, text string) bool {
	if text[0] != '{' {
		return false
	}
	var object signature.Values
	if json.Unmarshal([]byte(text), &object) != nil {
		return false
	}
	_, own := object.Get(f.Name)
	return own
}

// isCode reports whether the name of a field says that it is a program, which is
// what stands in the fence, and not the words around it.
func isCode(f signature.Field) bool {
	return slices.ContainsFunc(wordsOf(strings.ReplaceAll(f.Name, "_", " ")), func(w string) bool {
		return w == "code" || w == "program" || w == "script" || w == "source" || w == "snippet" || w == "sql"
	})
}

func onlyCode(f signature.Field, blocks []block, outside string) (json.RawMessage, error) {
	if len(blocks) > 1 || !offers(outside) {
		return nil, structural(f.Name, "cannot be read: there is more than one code fence, or something beside it; put the code into one and nothing beside it")
	}
	return Quote(blocks[0].text), nil
}

// introduces reports whether a text only announces what follows.
func introduces(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, ":") && !strings.Contains(text, "\n") && !strings.ContainsAny(apostrophe.ReplaceAllString(text, ""), "(){}[];=<>`\"'")
}

// offers reports whether a line announces what is meant, and not what was, may be or
// should not be.
func offers(line string) bool { return introduces(line) && !discards(line) }

func discards(text string) bool {
	return slices.ContainsFunc(wordsOf(text), func(w string) bool {
		return discarded[w] || contracted(w) || strings.HasSuffix(w, "'s") && w != "here's" && w != "it's" && w != "that's"
	})
}

var discarded = wordSet(`not never draft old previous original former wrong bad buggy broken before avoid instead bug incorrect naive attempt
	sent either pseudocode part sketch rest later only yet next incomplete unfinished still candidate candidates possible potential
	fails fail failed failing replaced obsolete deprecated excluded rejected removed dropped forbidden alternative alternatives except without missing`)

var apostrophe = regexp.MustCompile(`\b['’]\b`)

// finished reports whether a text of several lines seems to have come to its own
// end: neither cut off in a sentence, nor followed by talk.
func finished(f signature.Field, text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	if isCode(f) || !strings.ContainsRune(`.!?)"”’…`, last) || courtesies.MatchString(text) {
		return false
	}
	paragraph := text[strings.LastIndex(text, "\n")+1:]
	return !slices.ContainsFunc(wordsOf(paragraph), func(w string) bool { return corrections[w] })
}

// goesOn reports whether a text under a heading is followed by others, of which
// the reply was not asked.
func goesOn(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		name, _, ok := labelled(line)
		if _, headed := heading(line); headed || ok && len(wordsOf(name)) <= 2 {
			return true
		}
	}
	return false
}

// oneLine takes the text of one line out of the quotes of code or of Python. Of
// bold print it is not certain whether it belongs to the text.
func oneLine(f signature.Field, g given, text string) (json.RawMessage, error) {
	if inner, ok := within(text, "**"); ok && !g.loose {
		return nil, structural(f.Name, "is in bold as a whole; write the text alone, or as a JSON string if the asterisks belong to it (it was read as %q)", inner)
	}
	pairs := []string{"`", "'"}
	if g.loose {
		pairs = append(pairs, "**", "__", `"`)
	}
	for _, p := range pairs {
		if inner, ok := within(text, p); ok && !strings.Contains(inner, `\`) {
			return Quote(inner), nil
		}
	}
	return Quote(text), nil
}

// within returns what stands between a pair of marks, if they hold the whole
// text and do not occur in it.
func within(text, mark string) (string, bool) {
	inner, ok := strings.CutPrefix(text, mark)
	if !ok {
		return "", false
	}
	inner, ok = strings.CutSuffix(inner, mark)
	return inner, ok && inner != "" && !strings.Contains(inner, mark[:1])
}
