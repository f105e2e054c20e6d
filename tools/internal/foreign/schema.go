// Package foreign repairs JSON Schemas whose authors cannot be asked to fix
// them, such as the authors of MCP servers.
package foreign

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
)

const (
	maxDepth  = 200    // of a schema
	maxValues = 10_000 // in a schema
)

// Schema is a repaired schema. It is safe for concurrent use.
type Schema struct {
	raw     json.RawMessage
	dropped []string
	invalid error

	once   sync.Once
	result atomic.Pointer[result]
}

// result is the result of compiling a schema.
type result struct {
	schema *schema.Schema
	err    error
}

// Repair finds what is invalid in a schema, drops it and keeps the rest. It
// understands what other drafts, OpenAPI and common generators write, whatever
// "$schema" says.
//
//   - A keyword whose value has the wrong form is dropped. So is any "not", "if"
//     or additionalProperties around it that would then refuse too much; a oneOf
//     becomes an anyOf.
//   - A reference to another document, to a missing place, or endlessly to itself
//     is dropped. Nothing is ever loaded.
//   - A keyword that is null is ignored.
//   - The boolean exclusiveMinimum of draft 4, the array of items and the
//     dependencies of drafts before 2020-12, "nullable" of OpenAPI, and names
//     repeated in "required" or "type" are read as what they mean.
//
// Repair takes a fraction of the time and memory of compiling, which is left
// for the first call of [Schema.Compile]. It keeps raw, which must not change.
func Repair(raw json.RawMessage) *Schema {
	s := &Schema{raw: raw}
	_, s.dropped, s.invalid = repair(raw)
	return s
}

// Dropped describes what was dropped, each with its place and the reason: the
// first ten in a stable order, and how many more there are.
//
//	properties.n.type must be one or more of "array", "boolean", …, not "int"
func (s *Schema) Dropped() []string { return s.dropped }

// Compile compiles the repaired schema once. The error is that of [Schema.Err],
// or says that the schema exceeds another limit of [schema.Compile].
func (s *Schema) Compile() (*schema.Schema, error) {
	s.once.Do(func() {
		compiled, err := s.compile()
		s.result.Store(&result{compiled, err})
	})
	r := s.result.Load()
	return r.schema, r.err
}

// Err returns the error of [Schema.Compile] as far as it is known without
// compiling: that the text is not JSON, or is too large or too deep.
func (s *Schema) Err() error {
	if r := s.result.Load(); r != nil {
		return r.err
	}
	return s.invalid
}

// compile repairs the schema again, since most schemas are never compiled and
// only the original is kept.
func (s *Schema) compile() (*schema.Schema, error) {
	repaired, _, err := repair(s.raw)
	if err != nil {
		return nil, err
	}
	return schema.Compile(repaired.Encode(repaired.Value))
}

func repair(raw json.RawMessage) (doc *jsonvalue.Document, dropped []string, err error) {
	doc, err = jsonvalue.Decode(raw, maxDepth, true)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("schema: %w", err)
	case doc.Values > maxValues:
		return nil, nil, fmt.Errorf("schema: has %d values; the limit is %d", doc.Values, maxValues)
	}
	doc.Value, dropped = repairValue(doc.Value)
	return doc, dropped, nil
}
