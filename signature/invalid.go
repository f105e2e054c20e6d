package signature

import (
	"cmp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// InvalidError says that a value does not fit a signature. [Signature.Decode]
// returns it, and [Signature.Encode] wraps it.
type InvalidError struct {
	// Findings is what is wrong, as [schema.Schema.Validate] tells it, in the order
	// of the fields; there is at least one.
	Findings []schema.Finding
}

// Error lists all findings, one a line.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// arranged puts findings into the order of the fields that they are about. What is
// about the whole stays where it is: first, or last where it counts those that are
// not told.
func arranged(findings []schema.Finding, fields []Field) []schema.Finding {
	told := findings
	if last := len(findings) - 1; findings[last].Path == "" {
		told = findings[:last]
	}
	slices.SortStableFunc(told, func(a, b schema.Finding) int { return cmp.Compare(fieldAt(a, fields), fieldAt(b, fields)) })
	return findings
}

// fieldAt returns which field a finding is about: -1 if it is about the whole, and
// one more than there are if it is about no field.
func fieldAt(f schema.Finding, fields []Field) int {
	if f.Path == "" {
		return -1
	}
	name := f.Path
	if end := strings.IndexAny(name, ".["); end >= 0 {
		name = name[:end]
	}
	if i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return i
	}
	return len(fields)
}
