// Package schema compiles JSON Schemas, makes them from Go types, validates
// values against them, and prints them as TypeScript.
//
// Validation reports all problems of a value together, in words that help its author (a person or a model) fix them:
//
//	package main
//
//	import (
//		"fmt"
//		"reflect"
//
//		"github.com/writ-go/writ/signature/schema"
//	)
//
//	type Query struct {
//		Customer string `json:"customer_id"`
//		Limit    int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100"`
//	}
//
//	func main() {
//		s, err := schema.Of(reflect.TypeFor[Query]())
//		if err != nil {
//			panic(err)
//		}
//		fmt.Println(s.TypeScript(nil))
//		for _, f := range s.Validate([]byte(`{"custommer_id": "c1", "limit": "ten"}`)) {
//			fmt.Println(f)
//		}
//	}
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/writ-go/writ/internal/jsonvalue"
)

const (
	maxDepth      = 200    // levels of nesting in a schema
	maxValues     = 10_000 // JSON values in a schema
	maxValueDepth = 1_000  // levels of nesting in a value
)

// Schema is a compiled JSON Schema. It is immutable and safe for concurrent
// use.
type Schema struct {
	raw      json.RawMessage
	document *jsonvalue.Document
	compiled *jsonschema.Schema
	// rules holds all reachable schemas, by JSON pointer, or by URL if they are outside
	// the document.
	rules map[string]*jsonschema.Schema

	defaults map[*jsonschema.Schema]any // see usableDefaults
	formats  bool                       // validation also checks "format"
	quick    *quick                     // nil if the schema is not plain

	busy  sync.Mutex // protects guard
	guard *guard     // limits the number of steps that compiled takes
	more  sync.Pool  // more guards, for concurrent validations
}

// Compile compiles a schema of any draft from 4 to 2020-12. If the schema has no
// "$schema", its draft is 2020-12. Compile loads no other documents: a $ref to one
// is an error. It ignores "format", since what servers accept differs from what
// the standards say. "nullable" next to a type or an enum has the same meaning as
// in OpenAPI.
//
// The error says what is wrong and where. Compile also rejects a schema that repeats a name in an object, is nested
// deeper than 200, has more than 10,000 values, or applies so many schemas to one value that validation would take too
// long.
func Compile(raw json.RawMessage) (*Schema, error) {
	return compile(raw, false)
}

// WithFormats returns a schema that also checks "format", as schemas made by [Of] do. It
// ignores unknown formats.
func (s *Schema) WithFormats() (*Schema, error) {
	if s.formats || !bytes.Contains(s.raw, []byte(`"format"`)) {
		return s, nil
	}
	return compile(s.raw, true)
}

func compile(raw json.RawMessage, formats bool) (*Schema, error) {
	raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	doc, err := jsonvalue.Decode(raw, maxDepth, true)
	switch {
	case err != nil:
		return nil, fmt.Errorf("schema: %w", err)
	case doc.Values > maxValues:
		return nil, fmt.Errorf("schema: has %d values; the limit is %d", doc.Values, maxValues)
	case len(doc.Repeated) > 0:
		return nil, fmt.Errorf("schema: %s is given twice", jsonvalue.Path(doc.Value, doc.Repeated[0]))
	}
	if mentions(raw, "nullable") {
		readNullable(doc.Value)
	}
	g, rules, err := newGuard(doc.Value, formats)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if err := weigh(g.compiled); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := &Schema{raw: compact(raw), document: doc, compiled: g.compiled, rules: rules, formats: formats, guard: g}
	s.defaults, s.quick = s.usableDefaults(), newQuick(doc.Value)
	return s, nil
}

// Raw returns the schema as compact JSON.
func (s *Schema) Raw() json.RawMessage { return bytes.Clone(s.raw) }

// AnyText reports whether the schema admits every string and nothing else. Strings
// then need no validation.
func (s *Schema) AnyText() bool {
	if s.document == nil { // a zero Schema
		return false
	}
	keywords, _ := s.document.Value.(map[string]any)
	for name := range keywords {
		switch name {
		case "type", "title", "description", "default", "examples":
		default:
			return false
		}
	}
	return keywords["type"] == "string"
}

// Validate returns the problems of a JSON value in a stable order, or nil if the
// value is valid. It returns the first 20 problems; a last finding says how many
// more there are. Malformed JSON, repeated properties and nesting deeper than 1,000
// are also findings. Numbers of any size are compared exactly.
//
// A hostile schema can check every part of a value thousands of times, or have a pattern that backtracks endlessly.
// Validation therefore has a step limit and, for patterns, a time limit; both grow with the size of the value. If
// validation exceeds a limit, the value is not valid.
func (s *Schema) Validate(value json.RawMessage) []Finding {
	if s.quick != nil {
		if c, valid := jsonvalue.NewCursor(value); valid && s.quick.fits(&c) {
			return nil
		}
	}
	return s.validate(value, nil)
}

// ValidatePartial checks a value with unknown parts, such as a call's arguments in a program that has not run yet. It
// reports only the problems that exist whatever the unknown parts are.
//
// The JSON pointers in unknown name the unknown places, where value has null. A
// pointer that ends in "/..." means that the object or array at the rest of the
// pointer may have more members, because the program spreads something into it. A
// property that a later spread may overwrite must also be in unknown.
// ValidatePartial reports a misspelled property even if its value is unknown. It
// does not report that validation takes too many steps.
func (s *Schema) ValidatePartial(value json.RawMessage, unknown []string) []Finding {
	if len(unknown) == 0 {
		return s.Validate(value)
	}
	return s.validate(value, newUnknowns(unknown))
}

func (s *Schema) validate(raw json.RawMessage, unknown *unknowns) []Finding {
	d, err := jsonvalue.Decode(raw, maxValueDepth, false)
	if err != nil {
		return []Finding{{Message: err.Error()}}
	}
	x := &explainer{root: d.Value, rules: s.rules, unknown: unknown}
	var problems []problem
	for _, at := range d.Repeated {
		problems = append(problems, problem{at: at, text: "is given twice"})
	}
	return x.findings(append(problems, s.check(x, d)...))
}

// check validates a value. If parts of the value are unknown, check returns only the
// problems that are certain.
func (s *Schema) check(x *explainer, d *jsonvalue.Document) []problem {
	g, free, err := s.acquire()
	if err != nil {
		return x.ifKnown(problem{text: fmt.Sprintf("cannot be checked: %v", err)})
	}
	defer free()
	if d.Values*d.Deepest <= maxPlaces {
		g.begin(d, true)
		problems, broken := x.check(g.compiled)
		switch _, short := broken.(exhausted); {
		case broken == nil:
			return problems
		case !short || d.Deepest < 32:
			return x.ifKnown(ended(broken, d))
		}
	}
	g.begin(d, false)
	switch fits, broken := x.fits(g.opposite); {
	case broken != nil:
		return x.ifKnown(ended(broken, d))
	case !fits:
		return x.ifKnown(tooLarge())
	default:
		return nil
	}
}

// acquire returns a guard for one validation and a function that releases it.
func (s *Schema) acquire() (*guard, func(), error) {
	if s.busy.TryLock() {
		return s.guard, s.busy.Unlock, nil
	}
	if g, ok := s.more.Get().(*guard); ok {
		return g, func() { s.more.Put(g) }, nil
	}
	g, _, err := newGuard(s.document.Value, s.formats)
	return g, func() { s.more.Put(g) }, err
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return raw
	}
	return b.Bytes()
}
