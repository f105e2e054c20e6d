package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// OtherCase returns a finding for each name in a value that differs only in case from a
// property that the schema describes at the same place. Package encoding/json decodes such a
// name as the property; other programs do not. OtherCase searches objects and arrays to a
// depth of levels, or completely if levels is 0. The value must be valid.
func (s *Schema) OtherCase(value json.RawMessage, levels int) []Finding {
	d, err := jsonvalue.Decode(value, maxValueDepth, false)
	if err != nil {
		return []Finding{{Message: err.Error()}}
	}
	w := caseWalk{steps: baseSteps + valueSteps*d.Values}
	if levels == 0 {
		levels = maxValueDepth
	}
	w.value(d.Value, []*jsonschema.Schema{s.compiled}, levels)
	if w.steps < 0 {
		w.problems = []problem{{text: "has too many names to compare them with the schema"}}
	}
	return (&explainer{root: d.Value}).findings(cut(w.problems, 0))
}

// caseWalk walks through a value and the schemas that may describe its parts.
type caseWalk struct {
	steps    int      // number of steps left
	at       []string // the current place
	problems []problem
}

func (w *caseWalk) value(v any, schemas []*jsonschema.Schema, levels int) {
	if levels == 0 || len(schemas) == 0 || w.steps < 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		schemas = w.inPlace(schemas)
		if w.steps -= len(v) * len(schemas); w.steps < 0 {
			return
		}
		w.names(v, schemas)
		for name, member := range v {
			w.child(name, member, membersOf(schemas, name), levels)
		}
	case []any:
		items := elementsOf(w.inPlace(schemas))
		for i, item := range v {
			w.child(strconv.Itoa(i), item, items, levels)
		}
	}
}

func (w *caseWalk) child(name string, v any, schemas []*jsonschema.Schema, levels int) {
	w.at = append(w.at, name)
	w.value(v, schemas, levels-1)
	w.at = w.at[:len(w.at)-1]
}

// names compares an object's member names with those that the schemas describe.
func (w *caseWalk) names(object map[string]any, schemas []*jsonschema.Schema) {
	var unknown []string
	for name := range object {
		if !slices.ContainsFunc(schemas, func(s *jsonschema.Schema) bool { return s.Properties[name] != nil }) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return
	}
	described := map[string]string{} // by folded name
	for _, s := range schemas {
		for name := range s.Properties {
			described[foldCase(name)] = max(described[foldCase(name)], name)
		}
		w.steps -= len(s.Properties)
	}
	for _, name := range unknown {
		if known, ok := described[foldCase(name)]; ok {
			w.problems = append(w.problems, problem{
				at: jsonvalue.Extend(w.at, name), text: "is not a known property", hint: "did you mean " + known + "?",
			})
		}
	}
}

// inPlace returns the given schemas and all schemas that they apply to their own value.
func (w *caseWalk) inPlace(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	seen := map[*jsonschema.Schema]bool{nil: true}
	var all []*jsonschema.Schema
	for todo := slices.Clone(schemas); len(todo) > 0; todo = todo[1:] {
		s := todo[0]
		if seen[s] {
			continue
		}
		seen[s] = true
		all = append(all, s)
		todo = append(todo, sameValue(s)...)
	}
	w.steps -= len(all)
	return all
}

// membersOf returns the schemas that may describe an object's member.
func membersOf(schemas []*jsonschema.Schema, name string) []*jsonschema.Schema {
	var all []*jsonschema.Schema
	for _, s := range schemas {
		if p := s.Properties[name]; p != nil {
			all = append(all, p)
			continue
		}
		all = append(appendSchemas(all, s.AdditionalProperties), s.UnevaluatedProperties)
		all = slices.AppendSeq(all, maps.Values(s.PatternProperties))
	}
	return present(all)
}

// elementsOf returns the schemas that may describe an item of an array.
func elementsOf(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	var all []*jsonschema.Schema
	for _, s := range schemas {
		all = append(appendSchemas(all, s.Items), s.PrefixItems...)
		all = append(appendSchemas(all, s.AdditionalItems), s.Items2020, s.UnevaluatedItems, s.Contains)
	}
	return present(all)
}

// foldCase returns the same string for all strings that differ only in case.
func foldCase(text string) string {
	return strings.Map(func(r rune) rune {
		lowest := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			lowest = min(lowest, other)
		}
		return lowest
	}, text)
}
