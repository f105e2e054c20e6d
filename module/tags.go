package module

import (
	"strings"

	"github.com/writ-go/writ/signature"
)

// readTags reads fields in tags: <mood>good</mood>.
func readTags(r reply) (signature.Values, error) {
	fields := map[string]given{}
	behind := 0
	for _, f := range r.outputs {
		g, end, err := tagged(f, r.text)
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
	return r.settle(fields, r.text[behind:])
}

// tagged returns what a field's tags hold, and where they end: 0 if there are
// none. A tag must begin its line, lest it be part of a text.
func tagged(f signature.Field, text string) (g given, end int, err error) {
	open, closing := "<"+f.Name+">", "</"+f.Name+">"
	for at := 0; ; {
		i := strings.Index(text[at:], open)
		if i < 0 {
			return g, end, nil
		}
		start := at + i + len(open)
		if !alone(text[at : at+i]) {
			at = start
			continue
		}
		n := strings.Index(text[start:], closing)
		if n < 0 {
			return g, 0, structural(f.Name, "cannot be read: the tag %s is not closed", open)
		}
		value := strings.TrimSpace(text[start : start+n])
		if end > 0 && value != g.text {
			return g, 0, givenTwice(f.Name)
		}
		g, end = given{text: value}, start+n+len(closing)
		at = end
	}
}
