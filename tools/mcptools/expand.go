package mcptools

import (
	"fmt"
	"regexp"
	"strings"
)

var reference = regexp.MustCompile(`\$\{[^{}]+\}`)

// expander replaces ${VAR}, ${env:VAR} and ${VAR:-default} in one entry, and
// gathers what is wrong with them.
type expander struct {
	lookup func(string) (string, bool)
	errs   []error
}

func (x *expander) expand(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		value, err := x.value(ref[len("${") : len(ref)-len("}")])
		if err != nil {
			x.errs = append(x.errs, err)
		}
		return value
	})
}

func (x *expander) value(ref string) (string, error) {
	name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(ref, "env:"), ":-")
	value, ok := x.lookup(name)
	switch {
	case hasFallback && value == "": // as in a shell: unset or empty
		return fallback, nil
	case ok:
		return value, nil
	case strings.HasPrefix(ref, "input:"):
		return "", fmt.Errorf("${%s} asks somebody at an editor; use a variable: ${%s}",
			ref, strings.TrimPrefix(ref, "input:"))
	default:
		return "", fmt.Errorf("variable %s is not set; set it, or give a default: ${%s:-…}", name, name)
	}
}
