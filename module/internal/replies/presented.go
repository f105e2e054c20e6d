package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/writ-go/writ/signature"
)

// A reply may be nothing but a text, which says of itself that it is the one that was
// asked for: a line before it names it, or it is written as only titles are.

// introduction finds a first line that presents what is below: Sure! Here's a title:
var introduction = regexp.MustCompile(`(?i)^(?:(?:sure|certainly|of course|absolutely|okay|ok)(?: thing)?[!,.]? +)?here(?:['’]s| is) (?:a|an|the|my|your) (?:[\w-]+ ){0,2}?(\w+)(?: (?:for|about|of|on) [^\n:]*)?:[ \t]*\n?`)

// presented is the text that a reply presents by the name of its field, or a title.
func presented(f signature.Field, text string) json.RawMessage {
	m := introduction.FindStringSubmatchIndex(text)
	if m == nil {
		if isTitle(f.Name, text) {
			return Quote(text)
		}
		return nil
	}
	body := strings.TrimSpace(text[m[1]:])
	if !sameName(f.Name, text[m[2]:m[3]]) || body == "" || isCode(f) || !complete(body) {
		return nil
	}
	for _, mark := range []string{"**", "`", `"`} {
		if inner, ok := within(body, mark); ok && !strings.Contains(body, "\n") {
			return Quote(inner)
		}
	}
	if strings.ContainsAny(body[:1], "*`\"“'_#<>{[|") || !strings.Contains(body, "\n") && !isTitle(f.Name, body) || titled[f.Name] && strings.Contains(body, "\n") {
		return nil
	}
	return Quote(body)
}

// complete reports whether a text has come to its end, and has neither talk nor other
// texts behind it.
func complete(body string) bool {
	if len(body) > longestRemark || courtesies.MatchString(body) || refuses.MatchString(body) {
		return false
	}
	lines := linesOf(body)
	if slices.ContainsFunc(lines, func(line string) bool { return bullet.MatchString(line) || isLabel(line) || introduces(line) }) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(body)
	if len(lines) == 1 {
		return len(body) < 200
	}
	if !strings.ContainsRune(`.!?”"`, last) || strings.Contains(body, "```") {
		return false
	}
	paragraph := strings.TrimSpace(body[strings.LastIndex(body, "\n\n")+1:])
	return paragraph == body || !talks(paragraph) && (strings.Contains(paragraph, "\n") || !addressed(paragraph))
}

// talks reports whether a paragraph has second thoughts on the text before it.
func talks(paragraph string) bool {
	return praise.MatchString(paragraph) || slices.ContainsFunc(wordsOf(paragraph), func(w string) bool { return corrections[w] })
}

// addressed reports whether a paragraph may be said to the one who asked.
func addressed(paragraph string) bool {
	return slices.ContainsFunc(wordsOf(paragraph), func(w string) bool { return addresses[w] })
}

var addresses = wordSet("i i'm i've i'd i’m me my you your let this note feel hope")

// titled are fields that have a title.
var titled = wordSet("title headline heading subject")

var smallWord = regexp.MustCompile(`^\p{Ll}{1,4}$`)

// isTitle reports whether a text is a title, written as titles are: four words or
// more, with capitals.
func isTitle(name, text string) bool {
	words := strings.Fields(text)
	if !titled[strings.ToLower(name)] || len(words) < 4 || len(text) > 120 || strings.ContainsAny(text, "\n.;!?*_[](){}<>\"|/") || refuses.MatchString(text) {
		return false
	}
	small := 0
	for i, w := range words {
		first, _ := utf8.DecodeRuneInString(w)
		switch {
		case unicode.IsUpper(first) || unicode.IsDigit(first):
		case i > 0 && smallWord.MatchString(w):
			small++
		default:
			return false
		}
	}
	if slices.Contains(words, "or") {
		return false
	}
	first := strings.ToLower(words[0])
	return small <= len(words)/2 && !talk[first] && !strings.HasSuffix(words[0], ":")
}

// talk are words that begin what is no title.
var talk = wordSet("i i'm i’m i'll sorry no none not sure certainly okay ok here here's here’s this that please unable title missing insufficient unknown null error maybe perhaps either")
