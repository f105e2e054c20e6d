package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// unknowns are the places of a value that are not known yet. Nil stands for
// none.
type unknowns struct {
	places [][]string // whose content may be anything
	open   [][]string // objects and arrays that may have more members
}

func newUnknowns(pointers []string) *unknowns {
	if len(pointers) == 0 {
		return nil
	}
	u := &unknowns{}
	for _, p := range pointers {
		if parent, ok := strings.CutSuffix(p, "/..."); ok {
			u.open = append(u.open, tokens(parent))
		} else {
			u.places = append(u.places, tokens(p))
		}
	}
	return u
}

// decides reports whether an error may vanish with what the unknown places turn
// out to be.
func (u *unknowns) decides(e *jsonschema.ValidationError, root any) bool {
	if u == nil {
		return false
	}
	at := e.InstanceLocation
	if u.cover(at) || u.shift(at, root) || conditional(e.SchemaURL) {
		return true
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required, *kind.MinProperties, *kind.MinItems:
		return u.opens(at)
	case *kind.OneOf:
		return len(k.Subschemas) > 0 && u.touch(at)
	case *kind.Not, *kind.Enum, *kind.Const, *kind.MaxProperties, *kind.Dependency, *kind.DependentRequired,
		*kind.UniqueItems, *kind.Contains, *kind.MinContains, *kind.MaxContains:
		return u.touch(at)
	default:
		return false
	}
}

// cover reports whether a place is at or under an unknown one.
func (u *unknowns) cover(at []string) bool {
	return slices.ContainsFunc(u.places, func(p []string) bool { return within(p, at) })
}

// touch reports whether anything at or under a place is unknown.
func (u *unknowns) touch(at []string) bool {
	under := func(p []string) bool { return within(at, p) }
	return slices.ContainsFunc(u.places, under) || slices.ContainsFunc(u.open, under)
}

func (u *unknowns) opens(at []string) bool {
	return slices.ContainsFunc(u.open, func(p []string) bool { return slices.Equal(p, at) })
}

// shift reports whether a place is in an array with a spread, where an item's
// index is not certain.
func (u *unknowns) shift(at []string, root any) bool {
	return slices.ContainsFunc(u.open, func(p []string) bool {
		v, _ := lookup(root, p)
		_, array := v.([]any)
		return array && len(p) < len(at) && within(p, at)
	})
}

// within reports whether at is the place p or under it.
func within(p, at []string) bool {
	return len(p) <= len(at) && slices.Equal(p, at[:len(p)])
}

// conditional reports whether a schema applies only because of what other parts
// of the value are like.
func conditional(schemaURL string) bool {
	at := tokens(place(schemaURL))
	for i := 0; i < len(at); i++ {
		switch at[i] {
		case "then", "else", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems":
			return true
		case "properties", "patternProperties", "$defs", "definitions":
			i++ // what follows is a name
		}
	}
	return false
}
