package signature

import (
	"cmp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// InvalidError is the error for a value that does not fit a signature. [Signature.Decode] returns it, and
// [Signature.Encode] wraps it.
type InvalidError struct {
	// Findings are the problems, in the order of the fields. There is at least one.
	Findings []schema.Finding
}

// Error returns all findings, one per line.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// arranged sorts findings in the order of their fields. A finding about the whole value
// stays first. If the last finding only counts further problems, it stays last.
func arranged(findings []schema.Finding, fields []Field) []schema.Finding {
	located := findings
	if last := len(findings) - 1; findings[last].Path == "" {
		located = findings[:last]
	}
	slices.SortStableFunc(located, func(a, b schema.Finding) int {
		return cmp.Compare(fieldAt(a, fields), fieldAt(b, fields))
	})
	return findings
}

// fieldAt returns the index of the field that a finding is about, -1 if the finding is about
// the whole value, or len(fields) if no field has the name.
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
