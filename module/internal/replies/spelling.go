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
	if err != nil || l.unclosed || l.bare || s.chooses(l.comments) {
		return nil
	}
	behind := s.onceMore(value, strings.TrimSpace(text[l.at:]))
	if before != "" && (!strings.HasSuffix(before, ":") || uncertain(shape{}, "", before)) {
		return nil
	}
	if s.speaksOfMembers(behind) {
		return nil
	}
	if strings.ContainsAny(behind, "{[") || construction.MatchString(behind) || strings.HasPrefix(behind, "#") && dubious(behind) ||
		behind != "" && (reply{}).takesBack(nil, behind) {
		return nil
	}
	if l.mended && !s.known(value) {
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
	if json.Unmarshal(again, &object) == nil && len(object) == 1 && sameName(object[0].Name, s.name) {
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

// truthAbroad are those of other languages. Beside a value they may be other words.
var truthAbroad = map[string]string{"はい": "true", "いいえ": "false", "是": "true", "否": "false", "예": "true", "네": "true", "아니요": "false",
	"да": "true", "нет": "false", "sim": "true", "não": "false", "sì": "true", "non": "false", "nej": "false", "nei": "false", "nee": "false"}

// longestWord is how long a value of one word may be, with all that is round it.
const longestWord = 300

// exact reads a number, a boolean, null, one of a few constants or a date that is
// the whole text.
func (s shape) exact(text string) json.RawMessage {
	if len(text) > longestWord {
		return s.constant(text)
	}
	if number := s.drawn(text); number != "" {
		return json.RawMessage(number)
	}
	word := Undecorated(text)
	lower := strings.ToLower(word)
	if s.lasts() && !(s.null && (lower == "null" || lower == "none")) {
		return s.nanoseconds(word)
	}
	if number := numeral(s, word); s.number() && number != "" {
		return json.RawMessage(number)
	}
	if s.boolean && approving.MatchString(text) && truth[lower] == "false" {
		return nil
	}
	if s.boolean && truth[lower] != "" {
		return json.RawMessage(truth[lower])
	}
	if s.boolean && truthAbroad[lower] != "" {
		return json.RawMessage(truthAbroad[lower])
	}
	if s.boolean && !s.number() && s.name != "" && strings.HasPrefix(lower, "not ") && sameName(s.name, lower[len("not "):]) {
		return json.RawMessage("false")
	}
	if s.null && (lower == "null" || lower == "none") && s.allowed(word) == nil {
		return json.RawMessage("null")
	}
	if s.format == dateTime {
		return moment(word)
	}
	if s.format == date {
		if day.MatchString(word) {
			return Quote(word)
		}
		return calendar(word)
	}
	return s.constant(strings.TrimPrefix(word, "- "))
}

// itself reads the name of a truth as it, and its negation: vegan, unsafe.
func (s shape) itself(text string) json.RawMessage {
	word := strings.ToLower(Undecorated(text))
	switch {
	case !s.boolean || s.number() || s.isPlain() || len(s.name) < 3:
		return nil
	case sameName(s.name, word):
		return json.RawMessage("true")
	case sameName("un"+s.name, word), sameName("in"+s.name, word), sameName("non"+s.name, word):
		return json.RawMessage("false")
	}
	return nil
}

var day = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)

// spaced writes in_stock and in-stock as in stock.
var spaced = strings.NewReplacer("_", " ", "-", " ")

// camel finds where words are joined by a capital: notPlanned.
var camel = regexp.MustCompile(`(\p{Ll})(\p{Lu}\p{Ll})`)

func (s shape) constant(word string) json.RawMessage {
	var same []string
	for _, c := range s.constants {
		if c == word {
			return Quote(c)
		}
		if strings.EqualFold(spaced.Replace(c), spaced.Replace(camel.ReplaceAllString(word, "$1 $2"))) || strings.EqualFold(spaced.Replace(c), spaced.Replace(word)) {
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
		if !strings.HasSuffix(inner, "..") {
			inner = strings.TrimSpace(strings.TrimRight(inner, ".!"))
		}
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

// approving finds pictograms that say yes.
var approving = regexp.MustCompile(`[✅✔☑👍👌]`)

// isPictured reports whether a word may begin or end with a pictogram.
func isPictured(word string) bool {
	return word != "" && (word[0] >= 0x80 || word[len(word)-1] >= 0x80)
}

// isPictogram reports whether a rune is no part of a word: a smiley, an arrow, a
// star, and what modifies them.
func isPictogram(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk) && r != '^' && r != '`' && r != '°' || r == '\ufe0f' || r == '\u200d'
}

// glosses begin what is said beside a value.
var glosses = []string{"\n", " (", " - ", " – ", " — ", ", ", "; ", ". ", ": ", " because ", " since ", " as ", " # ", " // ", "  # "}

// glossed reads a value that begins a text which goes on to explain it: 0.5
// (high). The explanation may not make it doubtful.
func (s shape) glossed(text string) json.RawMessage {
	if !s.scalar() {
		return nil
	}
	for at, tried := nextGloss(text, 0), 0; at > 0 && at <= longestWord && tried < 5; at, tried = nextGloss(text, at+1), tried+1 {
		if value := s.exact(text[:at]); value != nil {
			return s.unlessDoubted(value, text[:at], text[at:])
		}
	}
	return nil
}

// nextGloss is where what is said beside a value may begin, -1 if nowhere from a place on.
func nextGloss(text string, from int) int {
	next := -1
	for _, g := range glosses {
		if i := strings.Index(text[from:], g); i >= 0 && (next < 0 || from+i < next) {
			next = from + i
		}
	}
	return next
}

// unlessDoubted is a value, unless what is said behind it makes it doubtful.
func (s shape) unlessDoubted(value json.RawMessage, word, behind string) json.RawMessage {
	said := strings.TrimRight(courtesies.ReplaceAllStringFunc(behind, courtesy), " \t\n")
	switch {
	case s.otherUnit(said):
		return nil
	case !s.lasts():
	case s.lastsAsLong(value, said):
		return value
	case s.unitBeside(value, said):
		return nil
	}
	if summed := s.withoutSums(PlainText(value), said); len(wordsOf(summed)) == 0 && !strings.ContainsAny(summed, "?=~") && summed != said {
		return value
	}
	if said == "" || s.number() && multiplied(PlainText(value), said) || s.explains(word, PlainText(value), said) {
		return value
	}
	if strings.HasPrefix(said, ":") || s.inPart(said) || s.integer && slices.ContainsFunc(wordsOf(said), func(w string) bool { return uncounted[w] }) {
		return nil
	}
	beside := s.withoutAside(PlainText(value), said)
	if beside != "" && (s.format != dateTime && qualified(beside) || s.besides(word, beside) || uncertain(s, PlainText(value), beside)) {
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
			return balanced(strings.TrimSpace(right))
		}
	}
	return text
}

// balanced is a text without the end of bold print that began before it.
func balanced(text string) string {
	if strings.Count(text, "**") == 1 {
		text = strings.TrimPrefix(text, "**")
	}
	return strings.TrimSpace(text)
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
