package schema

import (
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/similar"
)

// maxCompared bounds the names that one validation compares for suggestions.
const maxCompared = 2_000

// near returns the name in among that the author of name probably meant, or "".
func (x *explainer) near(name string, among []string) string {
	if x.compared += len(among); x.compared > maxCompared {
		return ""
	}
	return similar.Nearest(name, among)
}

// nearestValue returns a hint if a string is similar to an allowed value.
func (x *explainer) nearestValue(given any, allowed []any) string {
	s, ok := given.(string)
	if !ok {
		return ""
	}
	var names []string
	for _, v := range allowed {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	if near := x.near(s, names); near != "" {
		return "did you mean " + jsonvalue.Quote(near) + "?"
	}
	return ""
}
