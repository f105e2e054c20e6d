package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var bullet = regexp.MustCompile(`^(?:([-*•+‣◦▪●–]|\p{So}\x{FE0F}?)[ \t]+|(\d{1,3})[.)][ \t]+)`)

// list reads a list of words or numbers: bulleted, numbered, one a line, or with
// commas between them.
func (s shape) list(text string) json.RawMessage {
	if s.items == nil || !s.items.text && !s.items.scalar() {
		return nil
	}
	lines := linesOf(unremarked(text))
	if len(lines) > 1 && offers(lines[0]) && !bullet.MatchString(lines[0]) {
		lines = lines[1:]
	}
	items, certain := bulleted(lines)
	switch {
	case certain:
	case len(lines) > 1:
		items, certain = lines, !slices.ContainsFunc(lines, func(line string) bool { return !short(line, 4) || strings.ContainsAny(line[:1], " \t-*+•") })
	case len(lines) == 1:
		items, certain = commas(lines[0])
		certain = certain && !commaThousands.MatchString(lines[0]) && !(s.items.number() && !spacedCommas(lines[0])) && !s.mayEndInPair(lines[0]) && !(s.items.lasts() && lasting(lines[0]) != "")
	}
	if !certain {
		return nil
	}
	return s.each(items)
}

// commaThousands finds numbers with a comma before their last three digits, or what may be
// some.
var commaThousands = regexp.MustCompile(`\d,\d{3}\b`)

// unremarked is a text without its last paragraph, if that is a remark which adds
// nothing.
func unremarked(text string) string {
	text = strings.TrimSpace(text)
	at := strings.LastIndex(text, "\n\n")
	if at < 0 {
		return text
	}
	remark := strings.TrimRight(strings.TrimLeft(lacks.ReplaceAllStringFunc(text[at+2:], unlessDoubtful), "( \n"), ")")
	if remark == "" {
		return text[:at]
	}
	if len(remark) > longestRemark || !strings.HasSuffix(remark, ".") || bullet.MatchString(remark) || adds.MatchString(remark) || (reply{}).takesBack(nil, remark) {
		return text
	}
	return text[:at]
}

// adds finds remarks that may name more.
var adds = regexp.MustCompile(`(?i)\b(?:also|add|adds|added|plus|another|additional|additionally|besides|furthermore|more|others?|too|as well|remaining|except|but|not)\b`)

// linesOf returns the lines of a text that are not empty.
func linesOf(text string) []string {
	return slices.DeleteFunc(strings.Split(strings.TrimRight(text, " \t\n"), "\n"), blank)
}

// bulletKind is the sign that is the bullet of a line, nothing if it has a number
// or none.
func bulletKind(line string) string {
	if m := bullet.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// bulletNumber is the number that is the bullet of a line.
func bulletNumber(line string) string {
	if m := bullet.FindStringSubmatch(line); m != nil {
		return m[2]
	}
	return ""
}

// bulleted takes off the bullets or numbers, if every line has one of the same
// kind.
func bulleted(lines []string) (items []string, ok bool) {
	kind, number := "", ""
	for i, line := range lines {
		m := bullet.FindStringSubmatch(line)
		if m == nil || i > 0 && (m[1] != kind || !follows(number, m[2])) || doubtful.MatchString(m[1]) {
			return nil, false
		}
		kind, number = m[1], m[2]
		items = append(items, strings.TrimSpace(line[len(m[0]):]))
	}
	return items, len(items) > 0
}

// follows reports whether a number of a list can be that of the next item: where some
// are left out, items may be.
func follows(last, next string) bool {
	n, _ := strconv.Atoi(last)
	return next == last || next == strconv.Itoa(n+1)
}

// commas splits a line at its semicolons or commas, if what is between them can
// only be items.
func commas(line string) (items []string, ok bool) {
	separator, fewest, longest := ",", 3, 3
	if inner, bracketed := strings.CutPrefix(line, "["); bracketed {
		if line, ok = strings.CutSuffix(inner, "]"); !ok || strings.Contains(inner, `"`) {
			return nil, false
		}
		fewest = 2
	}
	if strings.Contains(line, "、") && !strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) || strings.ContainsRune(",;。", r) }) {
		separator = "、"
	}
	if strings.Contains(line, ";") {
		separator, fewest, longest = ";", 2, 6
	}
	items = strings.Split(strings.TrimRight(line, " .;"), separator)
	items, joined := lastTwo(items)
	for i, item := range items {
		if items[i] = strings.TrimSpace(item); !short(items[i], longest) || titles[strings.ToLower(items[i])] {
			return nil, false
		}
	}
	return items, len(items) >= fewest && (joined || separator == ";" || !inPairs(items))
}

// titles stand behind a comma and belong to what is before it.
var titles = wordSet("jr sr ii iii phd md esq inc ltd llc gmbh")

// lastTwo splits the last of several items at the word that joins two.
func lastTwo(items []string) (all []string, joined bool) {
	last := strings.TrimSpace(items[len(items)-1])
	if after, ok := strings.CutPrefix(last, "and "); ok {
		return append(items[:len(items)-1], after), true
	}
	before, after, joined := strings.Cut(last, " and ")
	if !joined || len(items) < 2 {
		return items, false
	}
	return append(items[:len(items)-1], before, after), true
}

// mayEndInPair reports whether the last two of several texts may be one: bread,
// macaroni and cheese. Persons are each one.
func (s shape) mayEndInPair(line string) bool {
	at := strings.LastIndex(line, " and ")
	if at < 0 || !s.items.text || s.items.constants != nil || strings.HasSuffix(line[:at], ",") || strings.HasSuffix(line[:at], ";") {
		return false
	}
	words := strings.Fields(strings.ReplaceAll(line, " and ", " "))
	return !persons[strings.ToLower(s.name)] || slices.ContainsFunc(words, func(w string) bool { return !unicode.IsUpper([]rune(w)[0]) })
}

// persons are names of lists that persons are on.
var persons = wordSet("names people persons persons_named first_names authors guests members players speakers attendees participants characters witnesses students employees passengers visitors customers users residents inhabitants workers voters subscribers patients")

// inPairs reports whether items may be pairs with a comma in each: Smith, John,
// Doe, Jane.
func inPairs(items []string) bool {
	if len(items)%2 > 0 {
		return false
	}
	for i, item := range items {
		if first := []rune(item)[0]; !unicode.IsUpper(first) || i%2 > 0 && strings.Contains(item, " ") {
			return false
		}
	}
	return true
}

// spacedCommas tells 1, 234, 567 from a number.
func spacedCommas(line string) bool { return strings.Count(line, ",") == strings.Count(line, ", ") }

// short reports whether a text is a few words and no sentence.
func short(text string, most int) bool {
	text = formOfAddress.ReplaceAllString(text, "")
	words := wordsOf(text)
	return len(words) > 0 && len(words) <= most && !strings.ContainsAny(text, ".;:!?(){}[]") &&
		!slices.ContainsFunc(words, func(w string) bool { return doubts(w) || corrections[w] || w == "and" })
}

// formOfAddress finds short words with a point before a name: M. Kone.
var formOfAddress = regexp.MustCompile(`^(\p{Lu}\pL{0,3})\. \b`)

// each reads every item, or nothing.
func (s shape) each(items []string) json.RawMessage {
	values := make([]json.RawMessage, len(items))
	for i, item := range items {
		if i == len(items)-1 && i > 0 && strings.ContainsAny(items[0][max(0, len(items[0])-1):], ",;") {
			item = strings.TrimSuffix(item, ".")
		}
		item = strings.TrimRight(item, ",;")
		if values[i] = s.items.allowed(item); values[i] != nil {
			continue
		}
		if strings.HasSuffix(item, "?") && !strings.HasSuffix(items[0], "?") || struck.MatchString(item) && (len(items) == 1 || !s.isRemark(item)) {
			return nil
		}
		if item == "" || andSoOn.MatchString(item) || leftOver.MatchString(item) || openEnd.MatchString(item) || missing(item) {
			return nil
		}
		if values[i] = s.items.item(item); values[i] == nil {
			return nil
		}
	}
	if s.items.lasts() && mixed(items) {
		return nil
	}
	if len(items) > 1 && !s.listsSentences(items) && !slices.ContainsFunc(items, func(item string) bool { return !explained.MatchString(item) }) {
		return nil
	}
	return encode(values)
}

// listsSentences reports whether the items are sentences, of which each may have a name
// before it: Research: compare three pumps. They are no names with explanations.
func (s shape) listsSentences(items []string) bool {
	return !wordLists[s.lastName()] && !persons[strings.ToLower(s.name)] && !slices.ContainsFunc(items, func(item string) bool {
		_, sentence, named := strings.Cut(item, ": ")
		return !named || len(wordsOf(sentence)) < 3 || !strings.HasSuffix(sentence, ".")
	})
}

// struck finds items that are said to be none.
var struck = regexp.MustCompile(`(?i)^not? |\((?:discarded|removed|dropped|rejected|excluded|not|no|maybe|unsure|optional|uncertain)\b[^)]*\)$`)

// openEnd finds items that stand for others too, or that are replaced by another.
var openEnd = regexp.MustCompile(`(?i) (?:usw|u\. ?a|etc|ecc)\.?$| (?:->|→|=>) |\((?:should|actually|wrong|corrected|rather|instead|or) `)

// missing reports whether an item says that there is none, or that it isn't known.
func missing(item string) bool {
	word := strings.ToLower(strings.Trim(item, ".*_()"))
	return absent[word] || word == "unknown" || noMore.MatchString(word)
}

var noMore = regexp.MustCompile(`^(?:none|nothing)(?: (?:else|more|other|found|noted|identified|to report))?$`)

// isRemark reports whether an item of a list of what somebody has to say, and not of
// things, says that something is lacking: no evidence. That there are no more such
// items is none.
func (s shape) isRemark(item string) bool {
	own, words := wordsOf(spaced.Replace(s.name)), wordsOf(item)
	return len(own) > 0 && remarked[own[len(own)-1]] && len(words) > 1 && words[0] == "no" &&
		!slices.ContainsFunc(words, func(w string) bool {
			return remarked[w] || remarked[w+"s"] || w == "more" || w == "other" || w == "further"
		})
}

var remarked = wordSet(`issues problems weaknesses strengths flaws faults errors bugs defects concerns risks limitations shortcomings gaps
	complaints objections criticisms criticism cons pros drawbacks findings observations reasons arguments remarks comments notes facts`)

// leftOver finds what is no part of an item, where it is not all around it: bold
// print, tags, links, a box to tick.
var leftOver = regexp.MustCompile("[^*]\\*\\*.|~~|</?[a-z]+/?>|\\]\\(|^\\[[ xX]?\\]|^`[^`]*`.|\\s\\d+[.)]\\s|^\\p{So}")

// explained finds items with an explanation behind them. If all have one, it is
// not certain that it was asked for.
var explained = regexp.MustCompile(` [-–—] |: | \(.*\)$`)

func (s shape) item(text string) json.RawMessage {
	if !s.text || s.constants != nil || s.format != "" {
		return s.exact(text)
	}
	for _, mark := range []string{"**", "`", `"`, "'"} {
		if inner, ok := within(text, mark); ok {
			return Quote(inner)
		}
	}
	return Quote(text)
}
