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
	text = withoutOwnLabel(f, text)
	text, certain := withoutPraise(f, text)
	blocks, outside, openFence := fences(text)
	switch {
	case !certain:
		return nil, structural(f.Name, "has a remark on the text behind it; write the text alone, or as a JSON string if that belongs to it")
	case isChoice(text), titled[strings.ToLower(f.Name)] && isOptions(text):
		return nil, structural(f.Name, "gives a choice; decide on one, or write the text as a JSON string")
	case isCorrectedBelow(text):
		return nil, structural(f.Name, "may be taken back by what is said below it; write the text alone, or as a JSON string if that belongs to it")
	case wraps(f, text):
		return nil, structural(f.Name, "is given as an object with the field in it; give only the value, or write the text as a JSON string")
	case labelsItself(f, text):
		return nil, structural(f.Name, "is given with its name once more; give only the value, or write the text as a JSON string if the name belongs to it")
	case openFence && !g.open && isCode(f) && onlyOpening.MatchString(text):
		return Quote(text[strings.IndexByte(text, '\n')+1:]), nil // the next marker ends it
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

// isCorrectedBelow reports whether a text is a short line, no sentence, with a second
// thought below.
func isCorrectedBelow(text string) bool {
	first, below, more := strings.Cut(text, "\n")
	first = strings.TrimSpace(first)
	return more && len(first) < 100 && !strings.HasSuffix(first, ".") && correctedBelow.MatchString(strings.TrimSpace(below))
}

var correctedBelow = regexp.MustCompile(`(?i)^(?:wait,? no\b|no,? wait\b|wait,? (?:actually|that['’]s)|actually,? (?:no|wait|it)\b|scratch that|correction[:,]|on second thoughts?,?|hold on\b|sorry,)`)

// isOptions reports whether every line of a text is an item of a list, of which a title
// is one.
func isOptions(text string) bool {
	lines := linesOf(text)
	return len(lines) > 1 && !slices.ContainsFunc(lines, func(line string) bool { return !bullet.MatchString(line) && !option.MatchString(line) })
}

var option = regexp.MustCompile(`(?i)^[*_]*(?:option|title|headline|version|variant|alternative) (?:[A-Z]|\d{1,2})\b`)

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

// labelsItself reports whether a line begins with the name of its field as a label, or
// stands in tags of that name. A note may begin so by itself.
func labelsItself(f signature.Field, text string) bool {
	if text[0] == '<' {
		return strings.HasPrefix(text, "<"+f.Name+">") && strings.HasSuffix(text, "</"+f.Name+">")
	}
	at := strings.IndexByte(text[:min(len(text), len(f.Name)+10)], ':')
	if at < 0 || remarkNames[strings.ToLower(f.Name)] || strings.Contains(text, "\n") {
		return false
	}
	name := strings.Trim(strings.ToLower(text[:at]), "*_")
	return sameName(f.Name, strings.TrimPrefix(name, "final "))
}

// withoutOwnLabel is a line without the name of its field before it: City: Bergen.
func withoutOwnLabel(f signature.Field, text string) string {
	if text[0] == '<' || slices.Contains(plainNames, f.Name) || !labelsItself(f, text) {
		return text
	}
	_, value, _ := labelled(text)
	if value == "" || strings.ContainsAny(value[:1], "{[") {
		return text
	}
	return value
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

// oneLine takes the text of one line out of the quotes of code or of Python, and out of
// bold print that holds all of it.
func oneLine(f signature.Field, g given, text string) (json.RawMessage, error) {
	pairs := []string{"`", "'", "**"}
	if isBrief(f) {
		pairs = append(pairs, "*", "_")
		text = headingMark.ReplaceAllString(text, "")
	}
	if g.loose {
		pairs = append(pairs, "__", `"`)
		if m := commented.FindStringSubmatch(text); m != nil {
			if (comment{text: m[2], name: f.Name, value: Undecorated(m[1])}).doubts() {
				return nil, structural(f.Name, "has a comment beside it that makes it uncertain; leave comments out")
			}
			text = m[1]
		}
	}
	for _, p := range pairs {
		if inner, ok := within(text, p); ok && !strings.Contains(inner, `\`) {
			return nameOrText(f, inner)
		}
	}
	return nameOrText(f, text)
}

// onlyOpening finds a program in a fence that is opened and not closed.
var onlyOpening = regexp.MustCompile("^```\\w*\n[^`~]+$")

// headingMark is the sign of a heading.
var headingMark = regexp.MustCompile(`^#{1,6} +`)

// nameOrText is a text as it is, or the name in it, if a name is asked for.
func nameOrText(f signature.Field, text string) (json.RawMessage, error) {
	if !holdsName(f) {
		return Quote(text), nil
	}
	name, reason := nameIn(f, text)
	if reason != "" {
		return nil, structural(f.Name, "%s. A text that is meant so can be written as a JSON string", reason)
	}
	return Quote(name), nil
}

// commented finds a text in quotes with a comment of YAML behind it.
var commented = regexp.MustCompile(`^("[^"]*"|'[^']*')\s+#([^\n]*)$`)

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
