package schema

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
)

// Loose is the schema of somebody who cannot be asked to mend it, such as the
// author of an MCP server. What is invalid in it is dropped and the rest stays;
// what other drafts, OpenAPI and common generators write is understood whatever
// "$schema" says. It is safe for concurrent use.
//
//   - A keyword with a value of the wrong form is dropped, and with it what would
//     refuse too much without it: a "not", "if" or additionalProperties around it;
//     a oneOf becomes an anyOf.
//   - A reference to another document, to what is not there, or to itself without
//     end is dropped. Nothing is ever loaded.
//   - A keyword that is null is no keyword.
//   - Read as what they mean: the boolean exclusiveMinimum of draft 4, the array
//     of items and the dependencies of drafts before 2020-12, "nullable" of
//     OpenAPI, and names given twice in "required" or "type".
type Loose struct {
	raw     json.RawMessage
	dropped []string
	unread  error

	once   sync.Once
	result atomic.Pointer[compilation]
}

// compilation is what compiling came to.
type compilation struct {
	schema *Schema
	err    error
}

// Loosely reads a schema, which it keeps and nobody may change, and finds what
// is to be dropped. That takes a fraction of the time and memory of compiling,
// which is left for the first call of [Loose.Schema].
func Loosely(raw json.RawMessage) *Loose {
	l := &Loose{raw: raw}
	doc, err := parse(raw, nil)
	if err != nil {
		l.unread = fmt.Errorf("schema: %w", err)
		return l
	}
	l.dropped = mend(&doc)
	return l
}

// Dropped says what was dropped, each with its place and the reason, in a stable
// order: the first ten, and how many more there are.
//
//	properties.n.type must be one of "array", "boolean", …, not "int"
func (l *Loose) Dropped() []string { return l.dropped }

// Schema compiles what is left, once; its Raw is the schema as it was. The error
// is that of [Loose.Err], or says that the schema goes beyond the other limits
// of [Compile].
func (l *Loose) Schema() (*Schema, error) {
	l.once.Do(func() {
		s, err := l.compile()
		l.result.Store(&compilation{s, err})
	})
	r := l.result.Load()
	return r.schema, r.err
}

// Err returns the error of [Loose.Schema] as far as it is known by now, without
// compiling: that the text is not JSON, or too large or too deep.
func (l *Loose) Err() error {
	if r := l.result.Load(); r != nil {
		return r.err
	}
	return l.unread
}

func (l *Loose) compile() (*Schema, error) {
	if l.unread != nil {
		return nil, l.unread
	}
	doc, err := parse(l.raw, map[string][]string{})
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	mend(&doc)
	return compileDocument(l.raw, doc, false)
}
