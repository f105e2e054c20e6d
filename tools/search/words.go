package search

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxWord is how many bytes of a word count.
const maxWord = 40

// words calls yield with each word of a text in small letters, until it returns
// false. Words end where letters and digits do, and where names put a capital:
// readFile, HTTPServer. Where no spaces are written, each character is a word.
func words(text string, yield func(word []byte) bool) {
	var word []byte
	flush := func() bool {
		done := len(word) > 0 && !yield(word)
		word = word[:0]
		return done
	}
	var before rune
	for i, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r), ideograph(r), ideograph(before):
			if flush() {
				return
			}
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before) || unicode.IsUpper(before) && lowerNext(text[i+utf8.RuneLen(r):])):
			if flush() {
				return
			}
		}
		if (unicode.IsLetter(r) || unicode.IsDigit(r)) && len(word) < maxWord {
			word = utf8.AppendRune(word, unicode.ToLower(r))
		}
		before = r
	}
	flush()
}

// lowerNext says whether a small letter follows, which is no plural as in URLs.
func lowerNext(rest string) bool {
	r, size := utf8.DecodeRuneInString(rest)
	if !unicode.IsLower(r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest[size:])
	return r != 's' || unicode.IsLetter(next)
}

func ideograph(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// stem takes the endings off an English word that has the same meaning without:
// files, created, creation. What remains need not be a word.
func stem(word string) string {
	if base, ok := irregular()[word]; ok {
		word = base
	}
	if len(word) <= 3 || !ascii(word) {
		return word
	}
	word = singular(word)
	if named[word] {
		return word
	}
	for _, ending := range []string{"ing", "ed"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= 3 && strings.ContainsAny(rest, "aeiouy") {
			if before, ok := strings.CutSuffix(rest, "i"); ok && ending == "ed" {
				return before + "y"
			}
			return strings.TrimSuffix(undouble(rest), "e")
		}
	}
	if len(word) > 6 && strings.HasSuffix(word, "tion") || strings.HasSuffix(word, "sion") {
		return word[:len(word)-len("ion")]
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

// irregular are the words that do not show what they come from.
var irregular = sync.OnceValue(func() map[string]string {
	set := map[string]string{}
	for line := range strings.FieldsSeq(`
		begin:began:begun break:broke:broken bring:brought build:built buy:bought child:children choose:chose:chosen
		come:came draw:drew:drawn fall:fell:fallen find:found forget:forgot:forgotten get:got:gotten give:gave:given
		go:went:gone hear:heard hide:hid:hidden hold:held index:indices:indexes keep:kept know:knew:known
		lead:led learn:learnt leave:left lend:lent lose:lost make:made mean:meant meet:met pay:paid person:persons
		ride:rode run:ran say:said see:saw:seen sell:sold send:sent shake:shook show:shown speak:spoke:spoken
		spend:spent stand:stood steal:stole:stolen take:took:taken tell:told think:thought throw:threw:thrown
		wake:woke wear:wore:worn win:won write:wrote:written`) {
		forms := strings.Split(line, ":")
		for _, form := range forms[1:] {
			set[form] = forms[0]
		}
	}
	return set
})

// named are words in -ing that are things: their verb is about something else.
var named = map[string]bool{"heading": true, "recording": true, "setting": true, "string": true}

func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}

// undouble takes back the letter that an ending has doubled: stopped.
func undouble(word string) string {
	n := len(word)
	if n > 3 && word[n-1] == word[n-2] && !strings.ContainsRune("aeiousl", rune(word[n-1])) {
		return word[:n-1]
	}
	return word
}

func ascii(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf })
}

// silent are the words that say nothing of what a tool does.
var silent = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`
		a about above after all also am an and any are as at be because been before being below both but by
		can could did do does doing done each else ever every for from had has have having he her here him his
		i if in into is it its just let like ll m may me might more most much must my need no not now of off
		on once one only onto or other our out over own please re s same shall she should so some such t
		tell than that the their them then there these they thing this those through to too under until up
		upon us use used using ve very via want wants was we were will with within without would yet you your`) {
		set[word] = true
	}
	return set
})

// wording are the keys of schemas whose texts say what an argument means.
var wording = map[string]bool{"description": true, "title": true, "enum": true, "const": true}

// keywords are the other keys of schemas, which name no argument.
var keywords = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`
		$schema $id $ref $defs $comment $anchor definitions type properties required items prefixItems
		additionalProperties unevaluatedProperties patternProperties propertyNames minProperties
		maxProperties anyOf oneOf allOf not if then else default examples format pattern minLength
		maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems
		uniqueItems contains dependentRequired dependentSchemas contentEncoding contentMediaType
		deprecated readOnly writeOnly nullable`) {
		set[word] = true
	}
	return set
}()

// schemaWords reads a schema for its words, not for what it demands: the names
// of arguments, at any depth, and the texts that say what they mean. It does not
// mind what is no schema.
func schemaWords(raw json.RawMessage) (names, meanings []string) {
	key, read := "", 0
	for read < maxFound {
		text, rest, ok := nextString(raw)
		if !ok {
			break
		}
		raw = bytes.TrimLeft(rest, " \t\r\n")
		switch isKey := bytes.HasPrefix(raw, []byte(":")); {
		case isKey:
			if key = text; !wording[key] && !keywords[key] {
				names = append(names, key)
				read++
			}
		case wording[key]:
			meanings = append(meanings, text)
			read++
		}
	}
	return names, meanings
}

// nextString returns the next string of a JSON text, and what follows it.
func nextString(raw []byte) (text string, rest []byte, ok bool) {
	start := bytes.IndexByte(raw, '"')
	if start < 0 {
		return "", nil, false
	}
	end := start + 1
	for end < len(raw) && raw[end] != '"' {
		if raw[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(raw) {
		return "", nil, false
	}
	quoted := raw[start : end+1]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), raw[end+1:], true
	}
	_ = json.Unmarshal(quoted, &text) // what is no string says nothing
	return text, raw[end+1:], true
}

// faint are the stems of words that say little, because people put them before
// whatever they want.
var faint = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`
		bring call come everything fetch first get give go keep last leave look make new open pull put see set show
		take what where which who work`) {
		set[stem(word)] = true
	}
	return set
})
