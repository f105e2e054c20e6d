package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/writ-go/writ/signature"
)

// literal reads JSON that is written loosely, alone or with words around it that
// only present it.
func (s shape) literal(text string) json.RawMessage {
	if s.members == nil && s.items == nil {
		return nil
	}
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		text = "[" + text[1:len(text)-1] + "]"
	}
	text = withoutFence(text)
	if s.items != nil && quotedItems.MatchString(text) {
		text = "[" + strings.TrimRight(text, ".,") + "]"
	}
	at := strings.IndexAny(text, "{[")
	if construction.MatchString(text) {
		at = 0
	}
	if at < 0 {
		return nil
	}
	before, text := strings.TrimSpace(text[:at]), text[at:]
	if s.items != nil && s.items.members != nil && separateObjects.MatchString(text) {
		text = "[" + text + "]"
	}
	value, l, err := readLax(text)
	if err != nil || l.unclosed || l.bare {
		return nil
	}
	behind := s.onceMore(value, strings.TrimSpace(text[l.at:]))
	if before != "" && (!strings.HasSuffix(before, ":") || uncertain(shape{}, "", before)) {
		return nil
	}
	if strings.ContainsAny(behind, "{[") || construction.MatchString(behind) || strings.HasPrefix(behind, "#") && dubious(behind) ||
		behind != "" && (reply{}).takesBack(nil, behind) {
		return nil
	}
	return s.bend(value)
}

// quotedItems finds texts in quotes with commas between them.
var quotedItems = regexp.MustCompile(`^(?:"[^"\n]*"(?:, ?|[.,]?$)){2,}$`)

// separateObjects finds objects without a list around them, one a line.
var separateObjects = regexp.MustCompile(`(?s)^\{[^{}]*\}\s*(?:,?\s*\{.*\})$`)

// onceMore is what is said behind a value, without the same value in other words.
func (s shape) onceMore(value json.RawMessage, behind string) string {
	at := strings.IndexAny(behind, "{[")
	if at < 0 {
		return behind
	}
	again, l, err := readLax(behind[at:])
	if err != nil || l.unclosed {
		return behind
	}
	var object signature.Values
	if json.Unmarshal(again, &object) == nil && len(object) == 1 && object[0].Name == s.name {
		again = object[0].JSON
	}
	before := strings.TrimRight(behind[:at], "`jsonJSON \n")
	if !equalJSON(value, again) || !introduces(before) && before != "" {
		return behind
	}
	return strings.Trim(behind[at+l.at:], "` \n")
}

// withoutFence is what stands in the only fence of a text that is introduced.
func withoutFence(text string) string {
	if blocks, outside, open := fences(text); len(blocks) == 1 && !open && offers(outside) {
		return blocks[0].text
	}
	return text
}

// truth is how models write booleans.
var truth = map[string]string{"true": "true", "yes": "true", "false": "false", "no": "false",
	"sí": "true", "oui": "true", "ja": "true", "nein": "false"}

// longestWord is how long a value of one word may be, with all that is round it.
const longestWord = 300

// exact reads a number, a boolean, null, one of a few constants or a date that is
// the whole text.
func (s shape) exact(text string) json.RawMessage {
	if len(text) > longestWord {
		return s.constant(text)
	}
	word := Undecorated(text)
	lower := strings.ToLower(word)
	if number := numeral(s, word); s.number() && number != "" {
		return json.RawMessage(number)
	}
	if s.boolean && truth[lower] != "" {
		return json.RawMessage(truth[lower])
	}
	if s.boolean && !s.number() && s.name != "" && strings.HasPrefix(lower, "not ") && sameName(s.name, lower[len("not "):]) {
		return json.RawMessage("false")
	}
	if s.null && (lower == "null" || lower == "none") {
		return json.RawMessage("null")
	}
	if s.format == dateTime {
		return moment(word)
	}
	return s.constant(strings.TrimPrefix(word, "- "))
}

// spaced writes in_stock and in-stock as in stock.
var spaced = strings.NewReplacer("_", " ", "-", " ")

func (s shape) constant(word string) json.RawMessage {
	var same []string
	for _, c := range s.constants {
		if c == word {
			return Quote(c)
		}
		if strings.EqualFold(spaced.Replace(c), spaced.Replace(word)) {
			same = append(same, c)
		}
	}
	if len(same) != 1 {
		return s.lettered(word)
	}
	return Quote(same[0])
}

// letter finds a word of a list, with its place.
var letter = regexp.MustCompile(`^\(?([a-zA-Z1-9])[).:] ?([^\s(].*)$`)

// lettered is a constant behind its place among them: (b) bad.
func (s shape) lettered(word string) json.RawMessage {
	m := letter.FindStringSubmatch(word)
	if m == nil {
		return nil
	}
	place := strings.IndexByte("abcdefghijklmnopqrstuvwxyz", strings.ToLower(m[1])[0])
	if place < 0 {
		place = int(m[1][0] - '1')
	}
	if place >= len(s.constants) || !strings.EqualFold(s.constants[place], m[2]) {
		return nil
	}
	return Quote(s.constants[place])
}

// Undecorated takes a word out of quotes, backticks, bold print, mathematics and
// smileys, and from before a full stop.
func Undecorated(text string) string {
	word := unboxed(strings.TrimSpace(text))
	for {
		inner := word
		if isPictured(word) && !doubtful.MatchString(word) {
			inner = strings.TrimFunc(inner, isPictogram)
		}
		inner = strings.TrimSpace(strings.TrimRight(inner, ".!"))
		for _, mark := range []string{"**", "`", `"`, "'"} {
			if bare, ok := within(inner, mark); ok {
				inner = strings.TrimSpace(bare)
			}
		}
		if inner == word {
			return word
		}
		word = inner
	}
}

// formula is how models of mathematics write their answer: $42$, \boxed{42}.
var formula = regexp.MustCompile(`^(?:\$\$?\s*([^$]+?)\s*\$\$?|\\\(\s*(.+?)\s*\\\)|\\\[\s*(.+?)\s*\\\])$`)

var boxed = regexp.MustCompile(`\\boxed\{\s*(?:\\text\{)?([^{}$\\]+)\}{1,2}`)

// unboxed is the word in a formula that is nothing but it.
func unboxed(word string) string {
	if len(word) > 200 || !strings.ContainsAny(word, `$\`) {
		return word
	}
	if m := formula.FindStringSubmatch(word); m != nil {
		word = m[1] + m[2] + m[3]
	}
	if m := boxed.FindStringSubmatch(word); m != nil && m[0] == word {
		return strings.TrimSpace(m[1])
	}
	return word
}

// doubtful finds pictograms that say something about a value.
var doubtful = regexp.MustCompile(`[❌🚫⛔❎✖👎⚠🤔🤷❓❔🙃😕⁉]`)

// isPictured reports whether a word may begin or end with a pictogram.
func isPictured(word string) bool {
	return word != "" && (word[0] >= 0x80 || word[len(word)-1] >= 0x80)
}

// isPictogram reports whether a rune is no part of a word: a smiley, an arrow, a
// star, and what modifies them.
func isPictogram(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk) && r != '^' && r != '`' || r == '\ufe0f' || r == '\u200d'
}

// glosses begin what is said beside a value.
var glosses = []string{"\n", " (", " - ", " – ", " — ", ", ", "; ", ". ", " # ", " // ", "  # "}

// glossed reads a value that begins a text which goes on to explain it: 0.5
// (high). The explanation may not make it doubtful.
func (s shape) glossed(text string) json.RawMessage {
	at := -1
	for _, g := range glosses {
		if i := strings.Index(text, g); i > 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 || !s.scalar() {
		return nil
	}
	value := s.exact(text[:at])
	if value == nil {
		return nil
	}
	if beside := s.withoutAside(PlainText(value), text[at:]); beside != "" && (s.format != dateTime && qualified(beside) || s.besides(text[:at], beside) || uncertain(s, PlainText(value), beside)) {
		return nil
	}
	return value
}

// frames are words with which a value is presented.
var frames = wordSet("the final my answer result value is output here are")

// unframed drops what presents a value: Count: 42, or The count is 42.
func unframed(name, text string) string {

	if strings.HasPrefix(text, "{") {
		return unwrapped(name, text)
	}
	own := wordsOf(strings.ReplaceAll(name, "_", " "))
	for _, sep := range []string{":", " is ", " are ", "="} {
		left, right, ok := strings.Cut(text, sep)
		if !ok || len(left) > 80 || blank(right) {
			continue
		}
		words := wordsOf(strings.ReplaceAll(left, "_", " "))
		foreign := slices.ContainsFunc(words, func(w string) bool { return !frames[w] && !slices.Contains(own, w) })
		if len(words) > 0 && !foreign {
			return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(right), "**"))
		}
	}
	return text
}

// unwrapped is the value in an object that has only the field.
func unwrapped(name, text string) string {
	raw, l, err := readLax(text)
	var object signature.Values
	if err != nil || l.unclosed || !blank(text[l.at:]) || json.Unmarshal(raw, &object) != nil || len(object) != 1 || object[0].Name != name {
		return text
	}
	return PlainText(object[0].JSON)
}

var moments = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:\.\d+)?)? ?([Zz]|UTC|[+-]\d\d:?\d\d)$`)

// moment reads a date and time that is written otherwise than RFC 3339 wants it.
// It must say the zone.
func moment(text string) json.RawMessage {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return nil
	}
	m := moments.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	seconds, zone := m[3], strings.ToUpper(m[4])
	if seconds == "" {
		seconds = ":00"
	}
	if zone == "UTC" {
		zone = "Z"
	}
	if len(zone) == 5 {
		zone = zone[:3] + ":" + zone[3:]
	}
	text = m[1] + "T" + m[2] + seconds + zone
	if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
		return nil
	}
	return Quote(text)
}
