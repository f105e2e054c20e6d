package signature

import (
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// InvalidError says that a value does not fit a signature. [Signature.Decode]
// returns it, and [Signature.Encode] wraps it.
type InvalidError struct {
	// Findings is what is wrong, as [schema.Schema.Validate] tells it; there is at
	// least one.
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
