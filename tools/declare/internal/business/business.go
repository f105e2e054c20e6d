// Package business makes the tools of a company with four servers (erp, facilities, crm
// and wiki), to measure how they are shown to a model. They are regular where
// servers are and irregular where servers are.
package business

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writ-go/writ/tools"
)

// Tools returns the tools. Nothing happens when they are called.
func Tools() []*tools.Tool {
	var list []*tools.Tool
	for _, t := range tables {
		module := ""
		for line := range strings.Lines(strings.TrimSpace(t.text)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "[") {
				module = strings.Trim(line, "[]")
				continue
			}
			list = append(list, t.tools(module, line)...)
		}
	}
	return list
}

// tools are those of one line.
func (t table) tools(module, line string) []*tools.Tool {
	if names, whole := strings.CutPrefix(line, "= "); whole {
		return t.both(names, func(word string) (string, string, json.RawMessage) {
			subject := strings.ReplaceAll(separated(word), "_", " ")
			return word, "Handle " + subject + " of the company, as the desk in charge does.", one
		})
	}
	subject, verbs, _ := strings.Cut(line, ": ")
	return t.both(verbs, func(verb string) (string, string, json.RawMessage) {
		about := strings.ReplaceAll(subject, "_", " ")
		description := fmt.Sprintf("%s a %s.", title(strings.ReplaceAll(verb, "_", " ")), about)
		if module != "" {
			description = fmt.Sprintf("%s a %s of the %s module.", title(verb), about, module)
		}
		switch verb {
		case "list", "search":
			return t.name(module, verb, subject), description + " Newest first.", many
		case "create", "update":
			return t.name(module, verb, subject), description + " Fields that are left out keep their value.", fields
		}
		return t.name(module, verb, subject), description, one
	})
}

const (
	oneInput = `{"type": "object", "properties": {"id": {"type": "string", "description": "The number, such as ` +
		`A-1042."}}, "required": ["id"]}`
	manyInput = `{"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer", ` +
		`"minimum": 1, "maximum": 200, "default": 50}, "cursor": {"type": "string"}}}`
	fieldsInput = `{"type": "object", "properties": {"id": {"type": "string"}, "fields": {"type": "object", ` +
		`"properties": {"name": {"type": "string"}, "status": {"enum": ["open", "closed", "blocked"]}, "due": {"type": ` +
		`"string", "format": "date"}}}}, "required": ["fields"]}`
)

var one, many, fields = json.RawMessage(oneInput), json.RawMessage(manyInput), json.RawMessage(fieldsInput)

// both makes the tools of words that read and, after a bar, of those that have effects.
func (t table) both(words string, make func(word string) (name, description string,
	input json.RawMessage)) []*tools.Tool {
	var list []*tools.Tool
	reads, effects, _ := strings.Cut(words, "|")
	for i, part := range []string{reads, effects} {
		for word := range strings.FieldsSeq(part) {
			tool := &tools.Tool{Namespace: t.server, Handler: nothing}
			tool.Name, tool.Description, tool.InputSchema = make(word)
			if i == 0 {
				tool.Claimed = tools.Read
			}
			list = append(list, tool)
		}
	}
	return list
}

func nothing(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }

func moduleVerbSubject(module, verb, subject string) string {
	return module + "_" + verb + "_" + subject
}

// verbSubject has lists of several.
func verbSubject(_, verb, subject string) string {
	if verb == "list" || verb == "search" {
		subject = plural(subject)
	}
	return verb + "_" + subject
}

func subjectVerb(_, verb, subject string) string { return subject + "_" + verb }

func camel(_, verb, subject string) string {
	if verb == "list" || verb == "search" {
		subject = plural(subject)
	}
	return verb + title(subject)
}

func plural(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok && noun != "key" {
		return stem + "ies"
	}
	return noun + "s"
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// separated writes camelCase as camel_case.
func separated(word string) string {
	var b strings.Builder
	for _, r := range word {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
