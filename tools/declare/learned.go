package declare

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"sync"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// LearnedTypes are the result types of tools that declare no output schema, learned from their results: {page: number;
// vendors: {blocked?: boolean; id: string}[]}. They contain member names, but never values. If the objects in one place
// have no name in common, or more than 60 names, the names count as data: the type is Record<string, T>, and the names
// are not kept. A type informs the model; nothing is checked against it.
//
// The zero value is empty. LearnedTypes are safe for concurrent use. Their JSON can be kept in a file. Since member
// names may be confidential, use different LearnedTypes for different tenants.
type LearnedTypes struct {
	mu    sync.Mutex
	types map[string]*shape // by the paths of the tools

	from, applied *tools.Set // the last argument of Apply, and its copy with these types
}

const (
	maxResult  = 1 << 20 // bytes of a result
	maxNesting = 100     // levels of nesting in a result
	maxType    = 1_500   // bytes of a type in an observation
)

// Learn adds a result to a tool's type. It ignores tools with an output schema, and results that are larger than 1 MiB,
// nested deeper than 100, or not JSON.
func (l *LearnedTypes) Learn(tool *tools.Binding, result json.RawMessage) {
	if !absent(tool.OutputSchema) || len(result) > maxResult {
		return
	}
	if doc, err := jsonvalue.Decode(result, maxNesting, false); err == nil {
		l.add(map[string]*shape{tool.Path(): shapeOf(doc.Value, maxDepth-1)})
	}
}

// Merge adds the types in other. The order in which types are merged and results are learned does not matter.
func (l *LearnedTypes) Merge(other *LearnedTypes) {
	other.mu.Lock()
	types := maps.Clone(other.types)
	other.mu.Unlock()
	l.add(types)
}

func (l *LearnedTypes) add(types map[string]*shape) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, t := range types {
		left := maxShapes
		if t = t.with(l.types[path]); !t.valid(maxDepth, &left) {
			t = &shape{}
		}
		if l.types == nil {
			l.types = map[string]*shape{}
		}
		if !reflect.DeepEqual(t, l.types[path]) {
			l.types[path], l.from = t, nil
		}
	}
}

// TypeScript returns the type of a tool's results, or "" if it is unknown. If the type is too long, TypeScript leaves
// out its most nested types.
func (l *LearnedTypes) TypeScript(tool *tools.Binding) string {
	l.mu.Lock()
	t := l.types[tool.Path()]
	l.mu.Unlock()
	if t == nil {
		return ""
	}
	s := compile(t.schema())
	for depth := maxDepth; depth > 0; depth-- {
		if text := s.TypeScript(&schema.TypeOptions{Depth: depth}); len(text) <= maxType {
			return text
		}
	}
	return ""
}

// Apply returns a copy of the set for which [Markdown] and [Describe] declare the types learned so far. It returns the
// same copy until a type or the set changes.
func (l *LearnedTypes) Apply(set *tools.Set) *tools.Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from == nil || l.from != set {
		learned := map[string]json.RawMessage{}
		for path, t := range l.types {
			learned[path] = t.schema()
		}
		l.from, l.applied = set, set.WithLearned(learned)
	}
	return l.applied
}

// MarshalJSON implements [json.Marshaler].
func (l *LearnedTypes) MarshalJSON() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Marshal(l.types)
}

// UnmarshalJSON implements [json.Unmarshaler]. It replaces the types. It returns an error if a type exceeds a limit or
// has an invalid name, so that the JSON need not be trusted.
func (l *LearnedTypes) UnmarshalJSON(text []byte) error {
	var types map[string]*shape
	if err := json.Unmarshal(text, &types); err != nil {
		return fmt.Errorf("declare: learned types: %w", err)
	}
	for path, t := range types {
		left := maxShapes
		if !t.valid(maxDepth, &left) || compile(t.schema()) == nil {
			return fmt.Errorf("declare: learned types: the type of %.100q is not valid", path)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.types, l.from = types, nil
	return nil
}
