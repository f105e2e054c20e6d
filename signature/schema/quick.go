package schema

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// quick recognizes most valid values of a plain schema without allocating. A plain schema consists of objects, arrays
// and scalars, and has no rules other than required properties and the bounds of numbers. A value that quick does not
// recognize may still be valid.
type quick struct {
	kind     string
	min, max float64
	items    *quick
	members  []quickMember
}

type quickMember struct {
	name     string
	required bool
	rule     *quick
}

const (
	maxMembers = 64      // bits of the set in fitsObject
	maxExact   = 1 << 53 // a float64 represents every integer up to this limit
)

// newQuick returns nil if the schema is not plain.
func newQuick(schema any) *quick {
	keywords, _ := schema.(map[string]any)
	q := &quick{min: math.Inf(-1), max: math.Inf(1)}
	q.kind, _ = keywords["type"].(string)
	if !slices.Contains([]string{"string", "boolean", "integer", "number", "array", "object"}, q.kind) {
		return nil
	}
	plain := true
	for name, v := range keywords {
		switch name {
		case "type", "title", "description", "default", "examples", "required", "additionalProperties":
		case "minimum":
			q.min, plain = exact(v)
		case "maximum":
			q.max, plain = exact(v)
		case "items":
			q.items = newQuick(v)
		case "properties":
			plain = q.addMembers(v.(map[string]any), keywords["required"])
		default:
			plain = false
		}
		if !plain {
			return nil
		}
	}
	return q
}

// exact returns a bound, and whether it is an integer below maxExact.
func exact(bound any) (float64, bool) {
	n, err := strconv.ParseInt(string(bound.(json.Number)), 10, 64)
	return float64(n), err == nil && -maxExact < n && n < maxExact
}

// addMembers adds an object's properties. It returns false if one is not plain, a required one is not described, or
// there are too many.
func (q *quick) addMembers(properties map[string]any, required any) bool {
	missing, _ := required.([]any)
	known := 0
	for name, property := range properties {
		m := quickMember{name, slices.Contains(missing, any(name)), newQuick(property)}
		if m.required {
			known++
		}
		if m.rule == nil {
			return false
		}
		q.members = append(q.members, m)
	}
	return known == len(missing) && len(q.members) <= maxMembers
}

// fits reports whether the value at the cursor is recognized as valid.
func (q *quick) fits(c *jsonvalue.Cursor) bool {
	switch first := c.Peek(); {
	case q.kind == "object" && first == '{':
		return q.fitsObject(c)
	case q.kind == "array" && first == '[' && q.items != nil:
		for c.Skip(1); c.Peek() != ']'; {
			if !q.items.fits(c) {
				return false
			}
		}
		c.Skip(1)
		return true
	case q.kind == "string" && first == '"':
		c.String()
		return true
	case q.kind == "boolean" && first == 't':
		c.Skip(len("true"))
		return true
	case q.kind == "boolean" && first == 'f':
		c.Skip(len("false"))
		return true
	case (q.kind == "integer" || q.kind == "number") && (first == '-' || '0' <= first && first <= '9'):
		n, digits := small(c.Number())
		return digits && q.min <= n && n <= q.max
	default:
		return false
	}
}

func (q *quick) fitsObject(c *jsonvalue.Cursor) bool {
	var seen uint64
	for c.Skip(1); c.Peek() != '}'; {
		name, plain := c.String()
		i := slices.IndexFunc(q.members, func(m quickMember) bool { return m.name == string(name) })
		if !plain || i < 0 || seen&(1<<i) != 0 || !q.members[i].rule.fits(c) {
			return false
		}
		seen |= 1 << i
	}
	c.Skip(1)
	for i, m := range q.members {
		if m.required && seen&(1<<i) == 0 {
			return false
		}
	}
	return true
}

// small parses an integer of at most 15 digits. It returns false for other numbers.
func small(digits []byte) (float64, bool) {
	negative := digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	if len(digits) > 15 {
		return 0, false
	}
	n := 0.0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + float64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
