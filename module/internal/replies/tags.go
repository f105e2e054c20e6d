package replies

import (
	"html"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// readTags reads fields in tags: <mood>good</mood>.
func readTags(r reply) (signature.Values, error) {
	if !strings.Contains(r.text, "</") {
		return nil, nil
	}
	r.text = withoutInvocation(r.text)
	fields := map[string]given{}
	behind := 0
	for _, f := range r.outputs {
		g, end, err := r.tagged(f)
		if err != nil {
			return nil, err
		}
		if end > 0 && !formOnly(f.Name, g.text) {
			fields[f.Name] = g
			behind = max(behind, end)
		}
	}
	if len(fields) == 0 {
		return nil, nil
	}
	return r.settle(fields, r.withoutEmpty(r.text[behind:]))
}

var closingTags = regexp.MustCompile(`^(?:\s*</\w+>)+\s*`)

// withoutEmpty drops what tags there are behind the fields: those that hold them,
// and those of fields that have no value.
func (r reply) withoutEmpty(behind string) string {
	for _, f := range r.outputs {
		if !f.Required {
			behind = strings.Replace(strings.Replace(behind, "<"+f.Name+"/>", "", 1), "<"+f.Name+" />", "", 1)
		}
	}
	return closingTags.ReplaceAllString(behind, "")
}

// tagged finds a field also where the case of its tags is another.
func (r reply) tagged(f signature.Field) (g given, end int, err error) {
	for _, name := range []string{f.Name, strings.ToUpper(f.Name), strings.ToUpper(f.Name[:1]) + f.Name[1:]} {
		if g, end, err = r.between(f, name); end > 0 || err != nil {
			break
		}
	}
	return g, end, err
}

// between returns what a field's tags hold, and where they end: 0 if there are
// none. A tag must begin its line, lest it be part of
// a text.
func (r reply) between(f signature.Field, name string) (g given, end int, err error) {
	text := r.text
	open, closing := "<"+name+">", "</"+name+">"
	for at := 0; ; {
		i := strings.Index(text[at:], open)
		if i < 0 {
			return g, end, nil
		}
		start := at + i + len(open)
		if !r.begins(text[at : at+i]) {
			if other, _, closed := strings.Cut(text[start:], closing); end > 0 && closed && strings.TrimSpace(other) != g.text {
				return g, 0, givenTwice(f.Name)
			}
			at = start
			continue
		}
		n := strings.Index(text[start:], closing)
		if n < 0 {
			return g, 0, structural(f.Name, "cannot be read: the tag %s is not closed", open)
		}
		value, cloaked := uncloaked(text[start : start+n])
		if value = strings.TrimSpace(value); strings.Contains(value, "<![CDATA[") {
			return g, 0, structural(f.Name, "cannot be read: it is not one section of CDATA; write the value alone")
		}
		if !cloaked {
			if value, err = withoutEntities(f, value); err != nil {
				return g, 0, err
			}
		}
		if end > 0 && value != g.text {
			return g, 0, givenTwice(f.Name)
		}
		g, end = given{text: value}, start+n+len(closing)
		at = end
	}
}

// uncloaked is what stands in a section of XML in which no sign means anything.
func uncloaked(text string) (inner string, cloaked bool) {
	if inner, ok := strings.CutPrefix(strings.TrimSpace(text), "<![CDATA["); ok && strings.Count(inner, "]]>") == 1 {
		if inner, ok = strings.CutSuffix(inner, "]]>"); ok {
			return inner, true
		}
	}
	return text, false
}

// entity finds characters as XML writes them: &amp;.
var entity = regexp.MustCompile(`&(?:amp|lt|gt|quot|apos|#\d+|#[xX][0-9a-fA-F]+);`)

// withoutEntities writes them as they are. Beside others that XML would write so, they may be
// meant; within tags, they are left to who reads those.
func withoutEntities(f signature.Field, value string) (string, error) {
	switch {
	case !entity.MatchString(value):
	case !strings.ContainsAny(entity.ReplaceAllString(value, ""), "<&"):
		return entity.ReplaceAllStringFunc(value, html.UnescapeString), nil
	case f.Schema.AnyText():
		return "", structural(f.Name, "cannot be read: some of its signs are written as in XML and some are not; write it as a section of CDATA")
	}
	return value, nil
}

// parameter finds the arguments of a call in tags: <parameter name="mood">good</parameter>.
var parameter = regexp.MustCompile(`(?s)<parameter name="(\w+)">(.*?)</parameter>`)

// invocation finds a reply that is one call in tags, and nothing else.
var invocation = regexp.MustCompile(`(?s)^\s*(?:<function_calls>\s*)?<invoke name="\w+">\s*((?:<parameter name="\w+">.*?</parameter>\s*)+)</invoke>\s*(?:</function_calls>\s*)?$`)

// withoutInvocation writes the arguments of such a call as tags of their own.
func withoutInvocation(text string) string {
	m := invocation.FindStringSubmatch(text)
	if m == nil || strings.Contains(m[1], "<invoke") {
		return text
	}
	return strings.TrimSpace(parameter.ReplaceAllString(m[1], "<$1>$2</$1>"))
}

// begins reports whether a tag behind this text begins its line, but for the tags of
// other fields, and those that hold them all.
func (r reply) begins(before string) bool {
	before = before[max(0, len(before)-200):]
	for range 3 {
		if alone(before) {
			return true
		}
		m := tagAtEnd.FindStringSubmatchIndex(before)
		if m == nil {
			return false
		}
		name := strings.TrimPrefix(before[m[2]:m[3]], "/")
		if _, output := fieldNamed(r.outputs, name); output && before[m[2]] == '/' {
			return true
		}
		before = before[:m[0]]
	}
	return false
}

var tagAtEnd = regexp.MustCompile(`<(/?\w+)>\s*$`)
