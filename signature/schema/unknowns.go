package schema

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// unknowns is a tree of the unknown places in a value. The keys are the tokens of JSON pointers. If the tree is nil,
// the whole value is known.
type unknowns struct {
	place bool // the value at this place is unknown
	open  bool // the object or array at this place may have more members
	under map[string]*unknowns
}

func newUnknowns(pointers []string) *unknowns {
	if len(pointers) == 0 {
		return nil
	}
	u := &unknowns{}
	for _, p := range pointers {
		if parent, ok := strings.CutSuffix(p, "/..."); ok {
			u.plant(jsonvalue.Tokens(parent)).open = true
		} else {
			u.plant(jsonvalue.Tokens(p)).place = true
		}
	}
	return u
}

// plant returns the node of a place, creating it if necessary.
func (u *unknowns) plant(at []string) *unknowns {
	for _, token := range at {
		if u.under == nil {
			u.under = map[string]*unknowns{}
		}
		next := u.under[token]
		if next == nil {
			next = &unknowns{}
			u.under[token] = next
		}
		u = next
	}
	return u
}

// node returns the node of a place, or nil if the tree does not have the place.
func (u *unknowns) node(at []string) *unknowns {
	for _, token := range at {
		if u == nil {
			return nil
		}
		u = u.under[token]
	}
	return u
}

// decides reports whether an error could disappear once the unknown values are known.
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

// cover reports whether a place is unknown or within an unknown place.
func (u *unknowns) cover(at []string) bool {
	for _, token := range at {
		if u == nil || u.place {
			return u != nil
		}
		u = u.under[token]
	}
	return u != nil && u.place
}

// touch reports whether all or part of the value at a place is unknown.
func (u *unknowns) touch(at []string) bool { return u.node(at) != nil }

// opens reports whether the object or array at a place may have more members.
func (u *unknowns) opens(at []string) bool {
	n := u.node(at)
	return n != nil && n.open
}

// shift reports whether a place is within an array that has a spread, so that the indexes
// of its items are uncertain.
func (u *unknowns) shift(at []string, root any) bool {
	for i, token := range at {
		if u == nil {
			return false
		}
		if _, array := root.([]any); array && u.open {
			return true
		}
		u = u.under[token]
		root, _ = jsonvalue.Lookup(root, at[i:i+1])
	}
	return false
}

// conditional reports whether a schema applies only under a condition on other parts of
// the value.
func conditional(schemaURL string) bool {
	at := jsonvalue.Tokens(place(schemaURL))
	for i := 0; i < len(at); i++ {
		switch at[i] {
		case "then", "else", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems":
			return true
		case "properties", "patternProperties", "$defs", "definitions":
			i++ // the next token is a name
		}
	}
	return false
}
