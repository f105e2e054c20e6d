package schema

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxQuickBytes   = 64 << 10 // of a value
	maxQuickSchemas = 200      // in one schema
	maxQuickMembers = 64       // of an object: the bits of a word
	maxQuickDigits  = 15       // of a number, which a float64 holds exactly
)

// quick is a schema of a simple kind, as most are, that checks a value where it
// stands, without decoding it: that it is JSON, too. It only ever says that a value
// fits; of all others, and of what it does not know, [Schema.Validate] finds out. A
// nil *quick knows nothing.
type quick struct {
	types    string // by the letters of quickTypes
	limited  bool   // to these texts:
	texts    []string
	length   span // in characters
	limits   span // of a number
	count    span // of items
	items    *quick
	members  []quickMember
	required uint64   // members, as bits
	either   []*quick // instead of all else
}

type quickMember struct {
	name string
	*quick
}

var quickTypes = map[string]string{
	"string": "s", "integer": "i", "number": "in", "boolean": "b", "null": "0", "object": "o", "array": "a",
}

// quickWords are the keywords that a quick looks at, and quickRemarks those that
// say nothing about values. Objects are not asked for additionalProperties: one
// with a name that is not known is none of its business.
var (
	quickWords   = strings.Fields("type enum minLength maxLength minimum maximum items minItems maxItems properties required additionalProperties")
	quickRemarks = strings.Fields("title description default examples deprecated readOnly writeOnly contentEncoding x-writ")
)

// quickener makes quicks, but not more than are left.
type quickener struct {
	left    int
	remarks []string
}

func newQuick(v any, formats bool) *quick {
	k := &quickener{maxQuickSchemas, quickRemarks}
	if !formats {
		k.remarks = append(slices.Clone(quickRemarks), "format")
	}
	return k.quick(v)
}

// quick returns a quick of a decoded schema, nil if that is not simple.
func (k *quickener) quick(v any) *quick {
	if k.left--; k.left < 0 {
		return nil
	}
	if v == true {
		return &quick{types: "sinb0"}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	object = without(object, k.remarks)
	if either, union := object["anyOf"].([]any); union && len(object) == 1 {
		return k.union(either)
	}
	if len(without(object, quickWords)) > 0 {
		return nil
	}
	q := &quick{types: "sinb0"}
	if t, typed := object["type"]; typed {
		name, _ := t.(string)
		q.types = quickTypes[name] // none of several
	}
	if !q.scalar(object) || !k.object(q, object) {
		return nil
	}
	k.array(q, object)
	return q
}

// union returns a quick of alternatives if all are simple: one that is not may
// take too long, which is a finding, whatever the others say.
func (k *quickener) union(either []any) *quick {
	q := &quick{}
	for _, v := range either {
		one := k.quick(v)
		if one == nil {
			return nil
		}
		q.either = append(q.either, one)
	}
	return q
}

func without(object map[string]any, names []string) map[string]any {
	rest := map[string]any{}
	for name, v := range object {
		if !slices.Contains(names, name) {
			rest[name] = v
		}
	}
	return rest
}

func (q *quick) scalar(object map[string]any) bool {
	var enum []any
	enum, q.limited = object["enum"].([]any)
	for _, v := range enum {
		if text, ok := v.(string); ok {
			q.texts = append(q.texts, text)
		}
	}
	return q.length.read(object, "minLength", "maxLength") &&
		q.limits.read(object, "minimum", "maximum") &&
		q.count.read(object, "minItems", "maxItems")
}

func (k *quickener) array(q *quick, object map[string]any) {
	items, given := object["items"]
	if !given {
		items = true
	}
	if q.takes('a') {
		q.items = k.quick(items)
	}
}

func (k *quickener) object(q *quick, object map[string]any) bool {
	properties, _ := object["properties"].(map[string]any)
	required, _ := object["required"].([]any)
	if len(properties) > maxQuickMembers {
		return false
	}
	for name, v := range properties {
		if slices.Contains(required, any(name)) {
			q.required |= 1 << len(q.members)
		}
		q.members = append(q.members, quickMember{name, k.quick(v)})
	}
	return !slices.ContainsFunc(required, func(name any) bool {
		text, _ := name.(string)
		_, described := properties[text]
		return !described
	})
}

// fits reports whether a value fits for certain.
func (q *quick) fits(raw json.RawMessage) bool {
	if q == nil || len(raw) > maxQuickBytes {
		return false
	}
	s := scan{text: raw}
	return q.value(&s) && s.next() == 0 && s.at == len(raw)
}

// value goes behind the value that comes next, if it fits.
func (q *quick) value(s *scan) bool {
	switch {
	case q == nil:
		return false
	case q.either != nil:
		return q.union(s)
	}
	switch s.next() {
	case '"':
		return q.takes('s') && q.string(s)
	case '{':
		return q.takes('o') && !q.limited && q.properties(s)
	case '[':
		return q.takes('a') && !q.limited && q.elements(s)
	case 't':
		return q.takes('b') && !q.limited && s.word("true")
	case 'f':
		return q.takes('b') && !q.limited && s.word("false")
	case 'n':
		return q.takes('0') && !q.limited && s.word("null")
	default:
		return !q.limited && q.number(s)
	}
}

func (q *quick) union(s *scan) bool {
	at := s.at
	return slices.ContainsFunc(q.either, func(one *quick) bool {
		s.at = at
		return one.value(s)
	})
}

func (q *quick) takes(letter byte) bool { return strings.IndexByte(q.types, letter) >= 0 }

func ascii(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c >= utf8.RuneSelf })
}

func (q *quick) string(s *scan) bool {
	text, plain, ok := s.string()
	switch {
	case !ok:
		return false
	case q.limited && !slices.ContainsFunc(q.texts, func(t string) bool { return plain && t == string(text) }):
		return false
	case q.length == span{}:
		return true
	default:
		return plain && ascii(text) && q.lengthFits(len(text))
	}
}

func (q *quick) lengthFits(n int) bool { return q.length.holds(float64(n), true) }

func (q *quick) properties(s *scan) bool {
	var given uint64
	for more := s.opens('}'); more; more = s.goesOn() {
		if s.next() != '"' {
			return false
		}
		name, plain, ok := s.string()
		i := slices.IndexFunc(q.members, func(m quickMember) bool { return m.name == string(name) })
		if !ok || !plain || i < 0 || given&(1<<i) != 0 || s.next() != ':' {
			return false
		}
		if s.at++; !q.members[i].value(s) {
			return false
		}
		given |= 1 << i
	}
	return s.closes('}') && given&q.required == q.required
}

func (q *quick) elements(s *scan) bool {
	n := 0
	for more := s.opens(']'); more; more = s.goesOn() {
		if !q.items.value(s) {
			return false
		}
		n++
	}
	return s.closes(']') && q.count.holds(float64(n), true)
}

// number checks a number of few digits: below 10¹⁵ and exact, or a fraction,
// rounded once.
func (q *quick) number(s *scan) bool {
	text, ok := s.number()
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	if !ok || len(digits) > maxQuickDigits {
		return false
	}
	value, scale := 0.0, 0.0
	for _, c := range digits {
		if c == '.' {
			scale = 1
		} else {
			value, scale = value*10+float64(c-'0'), scale*10
		}
	}
	if negative {
		value = -value
	}
	if scale > 0 {
		return q.takes('n') && q.limits.holds(value/scale, false)
	}
	return q.takes('i') && q.limits.holds(value, true)
}

// span is a range; a bound that is not set is nil.
type span struct{ least, most *float64 }

// holds reports whether a number is in the range for certain, whether it is exact
// or was rounded.
func (s span) holds(n float64, exact bool) bool {
	return (s.least == nil || n > *s.least || exact && n == *s.least) &&
		(s.most == nil || n < *s.most || exact && n == *s.most)
}

// read sets the bounds, if they are exact.
func (s *span) read(object map[string]any, least, most string) bool {
	var ok [2]bool
	s.least, ok[0] = exactly(object[least])
	s.most, ok[1] = exactly(object[most])
	return ok[0] && ok[1]
}

func exactly(v any) (*float64, bool) {
	if v == nil {
		return nil, true
	}
	n, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return nil, false
	}
	f, exact := r.Float64()
	return &f, exact
}
