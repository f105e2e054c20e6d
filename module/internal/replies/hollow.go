package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/signature"
)

// A model that does not answer may still fill in the form: with a placeholder, or
// with some of a list and a sign that there is more. Neither is a value. Where the
// text itself is meant, it can be said as a JSON string under its marker.

// hollow reports whether a text, as a whole, stands for one that is to come.
func hollow(name, text string) bool {
	if !mayBeHollow(text) {
		return false
	}
	if len(text) > 120 {
		return len(text) > 20 && strings.EqualFold(text[:17], "lorem ipsum dolor")
	}
	if text == "string" {
		return true
	}
	if inner, ok := bracketed(text); ok && (names(name, inner) || placeholders[strings.ToLower(inner)] || text[0] == '[' && phrase.MatchString(inner) || notGiven.MatchString(inner)) {
		return true
	}
	return stub.MatchString(text)
}

// mayBeHollow spares most texts the expression.
func mayBeHollow(text string) bool {
	return text == "string" || strings.IndexByte("[<{(/#-._*\xe2", text[0]) >= 0 || len(text) < 12 && strings.IndexByte("tTfFlLpP", text[0]) >= 0 ||
		len(text) <= 120 && (strings.Contains(text, "here") || strings.Contains(text, "HERE") || strings.Contains(text, "above") || strings.Contains(text, "below")) ||
		len(text) > 20 && strings.EqualFold(text[:6], "lorem ")
}

// phrase is what stands in brackets for what is to be filled in: [City Name]. An
// editor's sic is none.
var phrase = regexp.MustCompile(`^(?:\pL[\pL'’]* ){1,5}\pL[\pL'’]*$`)

// notGiven finds words in brackets for what is lacking.
var notGiven = regexp.MustCompile(`(?i)^(?:(?:not|none|no \w+) (?:provided|given|specified|stated|mentioned|available|known|found|applicable)|unknown|redacted|missing|blank|empty|n/a|tbd)$`)

// names reports whether a few words name a field: optional note.
func names(field, words string) bool {
	own := strings.ToLower(spaced.Replace(field))
	words = strings.ToLower(spaced.Replace(words))
	return sameName(field, words) || sameName(strings.TrimSuffix(field, "s"), words) || len(wordsOf(words)) < 5 && (strings.HasSuffix(words, " "+own) || strings.HasPrefix(words, own+" "))
}

// stub finds placeholders: [Your essay goes here], // your code here, TODO.
var stub = regexp.MustCompile(`(?i)^(?:` + strings.Join([]string{
	`[\[<{(*_]+\s*(?:[^\]>})\n]*\s)?(?:your|insert|placeholder|goes here|todo|tbd|fill in|to be (?:determined|filled|added|written)|omitted|truncated)\b[^\]>})\n]*[\]>})*_]+`,
	`[\[<{(*_]+\s*[^\]>})\n]*\bhere[\]>})*_]+`,
	`[\[<{(]?(?:\.{3,}|…)[\]>})]?`,
	`(?:(?://|#|/\*|--|<!--)\s*)?(?:\.{3,}\s*|…\s*)?(?:todo|tbd|fixme)(?:[:.!]?|:? (?:implement|write|add|fill)[^\n]*)(?:\s*\*/|\s*-->)?`,
	`(?:(?://|#|/\*|--|<!--)\s*)(?:\.{3,}\s*|…\s*)?(?:your|insert|put|write|add|place|enter|the|code|implementation)\b[^\n]*\b(?:here|goes here)\b[\s.…]*(?:\*/|-->)?`,
	`(?:your|insert|put|write|enter|place|add) (?:[\w-]+ ){1,5}(?:goes )?here[.…!]*`,
	`\(?(?:see|same as|as)(?: \w+)? (?:above|below|before)[).]*`,
	`lorem ipsum\b[^\n]*`,
}, "|") + `)$`)

// placeholders are names in brackets that are nobody's value.
var placeholders = wordSet("answer value text string number integer boolean name date result output response content string… …")

// bracketed is what stands between the brackets that hold a whole text: <answer>.
func bracketed(text string) (inner string, ok bool) {
	for _, b := range []string{"<>", "[]", "{}"} {
		for strings.HasPrefix(text, b[:1]) && strings.HasSuffix(text, b[1:]) && len(text) > 2 {
			text, ok = text[1:len(text)-1], true
		}
	}
	return strings.TrimSpace(text), ok
}

// typeNames are what a model gives for a value if it repeats the type.
var typeNames = []string{"string", "<string>", "string (optional)", "string or null", "string | null"}

// hollowJSON reports whether a value of JSON, or one in it, is hollow, or stands
// for those that were left out. What the schema lists is neither; with words, nor is a
// word such as TODO. A whole field that is the word string is one of the template that was
// not filled in.
func hollowJSON(f signature.Field, value json.RawMessage, words bool) bool {
	v, ok := decoded(value)
	words = words && v != any("string")
	return ok && shape{}.hollow(f.Name, v, false, false) && shapeOf(f).hollow(f.Name, v, false, words)
}

// decoded is a value that has texts, of which most have nothing to decode.
func decoded(value json.RawMessage) (v any, ok bool) {
	if len(value) < 3 || value[0] != '"' && value[0] != '[' && value[0] != '{' {
		return nil, false
	}
	if text, plain := unescaped(value); plain {
		return string(text), true
	}
	return v, json.Unmarshal(value, &v) == nil
}

// isFilled reports whether a text in a value is no placeholder.
func isFilled(name string, value json.RawMessage) bool {
	v, ok := decoded(value)
	return ok && hasText(name, v)
}

func hasText(name string, v any) bool {
	switch v := v.(type) {
	case string:
		return v != "" && !placeholders[strings.ToLower(v)] && !sameName(name, v) && !shape{}.hollow(name, v, true, false)
	case []any:
		return !isTemplate(name, v) && slices.ContainsFunc(v, func(item any) bool { return hasText(name, item) })
	case map[string]any:
		for member, inner := range v {
			if hasText(member, inner) {
				return true
			}
		}
	}
	return false
}

// hollow reports whether a value of the shape is hollow. Where anything may stand, words
// are what they are.
func (s shape) hollow(name string, v any, listed, words bool) bool {
	words = words || s.any
	switch v := v.(type) {
	case string:
		if v == "" || s.allowed(v) != nil || words && placeholderWord.MatchString(v) {
			return false
		}
		return hollow(name, v) || len(v) < 20 && slices.Contains(typeNames, strings.ToLower(v)) || listed && andSoOn.MatchString(v)
	case []any:
		items := s.inner(s.items)
		return !words && items.constants == nil && isTemplate(name, v) || slices.ContainsFunc(v, func(item any) bool { return items.hollow(name, item, true, words) })
	case map[string]any:
		for member, inner := range v {
			if s.of(member).hollow(member, inner, false, words) {
				return true
			}
		}
	}
	return false
}

// placeholderWord finds placeholders that are words of their own, too.
var placeholderWord = regexp.MustCompile(`^(?i:todo|tbd|fixme|string|(?:name|string|value|example|tag|item|label|keyword|topic|category|entry|element|phrase|option)[ _-]?(?:\d+|[A-H]))$`)

// allowed is the constant that a text gives, if the shape lists it.
func (s shape) allowed(text string) json.RawMessage {
	if s.constants == nil {
		return nil
	}
	return s.constant(text)
}

// listsTexts reports whether it is a list of texts, where one that says nothing may stand
// for others.
func (s shape) listsTexts() bool { return s.items != nil && s.items.text }

// inner is the shape of a part, if anything is known of it.
func (s shape) inner(part *shape) shape {
	if part == nil {
		return shape{any: s.any}
	}
	return *part
}

// of is the shape of a member, by exactly that name.
func (s shape) of(name string) shape {
	for _, m := range s.members {
		if m.name == name {
			return m.shape
		}
	}
	return s.inner(s.rest)
}

// blankForm reports whether nothing in an object is filled in, so that it shows the
// form of another.
func blankForm(object signature.Values) bool {
	return len(object) > 0 && !slices.ContainsFunc(object, func(v signature.Value) bool {
		var inner signature.Values
		switch v.JSON[0] {
		case '"':
			return !shape{}.hollow(v.Name, PlainText(v.JSON), false, false) && PlainText(v.JSON) != "..."
		case '{':
			return json.Unmarshal(v.JSON, &inner) != nil || !blankForm(inner)
		}
		return string(v.JSON) != "0" && string(v.JSON) != "null" && string(v.JSON) != "[]"
	}) && strings.Contains(string(encode(object)), `"`+`...`+`"`)
}

// andSoOn finds items that stand for others: ..., and 3 more.
var andSoOn = regexp.MustCompile(`(?i)^(?:\.{2,}|…|etc\.?|(?:\.{2,}|…)?\s*\(?(?:and )?(?:so (?:on|forth)|(?:(?:\d+|many|several|some|a few|two|three|four|five|ten) )?(?:more|others)(?: \w+)?|the (?:rest|others))\)?\.?(?:\.{2,}|…)?|(?:name|string|value|example|tag|item|label|keyword|topic|category|entry|element|phrase)[ _-]?\d+|.*[^.](?:\.{3}|…), ?etc\.?|他|等|その他)$`)

// template finds names that are only numbered: Author 1, Item A.
var template = regexp.MustCompile(`^(?i:sample |example |dummy |some )?(\pL+)[ _-]?(\d{1,2}|[A-H])$`)

// isTemplate reports whether the items of a list, or their names, are numbered one after
// the other, and called by no more than what they are.
func isTemplate(field string, items []any) bool {
	for i, item := range items {
		if object, ok := item.(map[string]any); ok {
			item = object["name"]
		}
		text, _ := item.(string)
		m := template.FindStringSubmatch(text)
		if m == nil || m[2] != strconv.Itoa(i+1) && m[2] != string(rune('A'+i)) || !isKind(field, strings.ToLower(m[1])) {
			return false
		}
	}
	return len(items) > 0
}

// isKind reports whether a word says only of what kind the items of a field are. Some kinds
// of things are mostly called by their numbers.
func isKind(field, word string) bool {
	own := wordsOf(spaced.Replace(field))
	return kinds[word] || len(own) > 0 && strings.TrimSuffix(own[len(own)-1], "s") == strings.TrimSuffix(word, "s") && !numbered[word]
}

var (
	kinds    = wordSet("name author item person speaker product example user guest member participant customer thing option city ingredient symptom")
	numbered = wordSet(`chapter room floor gate level group phase week day version step stage part section class grade zone route line track terminal
		platform building apartment unit lot episode season volume figure table page question exercise round team court hall bus`)
)

// onlyComments reports whether a program has nothing in it that could be run.
func onlyComments(code string) bool {
	code = commentBlock.ReplaceAllString(code, "")
	for line := range strings.SplitSeq(code, "\n") {
		if line = strings.TrimSpace(line); line != "" && line != "..." && line != "…" && !strings.HasPrefix(line, "//") {
			return false
		}
	}
	return true
}

var commentBlock = regexp.MustCompile(`(?s)/\*.*?\*/`)

// isVoid reports whether a value of JSON that need not be given is none: null, a text
// with nothing in it where none is asked for, an object of such values.
func (s shape) isVoid(value json.RawMessage) bool {
	switch {
	case string(value) == "null":
		return true
	case value[0] == '"':
		text := strings.ToLower(strings.TrimSpace(PlainText(value)))
		asksText := s.any || s.text && s.constants == nil && !s.temporal()
		return !asksText && s.items == nil && s.allowed(PlainText(value)) == nil && (text == "" || absent[text] || notThere.MatchString(text))
	case value[0] == '{' && s.members != nil:
		var object signature.Values
		return json.Unmarshal(value, &object) == nil && (len(object) > 0 || !s.whole(nil)) && !slices.ContainsFunc(object, func(v signature.Value) bool {
			return string(v.JSON) != "null" && string(v.JSON) != `""`
		})
	}
	return false
}
