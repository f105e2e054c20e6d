package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// A value of JSON that does not fit its shape may be one that is written otherwise: a number in
// quotes, one item without its list, members that were taken out of their object.

// bendField reads a member of a JSON object. With words, one such as TODO is what it says.
func bendField(f signature.Field, raw json.RawMessage, words bool) (json.RawMessage, error) {
	if value, err := taken(f, string(raw)); err != nil || value != nil && fits(f, value) {
		return value, err
	}
	if raw[0] == '{' && !fits(f, raw) {
		raw = shapeOf(f).unboxedScalar(raw)
	}
	if hollowJSON(f, raw, words) {
		return nil, errHollowJSON(f.Name)
	}
	if !f.Required && raw[0] == '"' && f.Schema.AnyText() && (saidAbsent.Match(raw) || notThere.MatchString(PlainText(raw))) {
		return nothing(f)
	}
	if len(raw) > 2 && strings.IndexByte("\\*`\xe2", raw[1]) >= 0 && f.Schema.AnyText() && isChoice(PlainText(raw)) {
		return nil, structural(f.Name, "gives a choice; decide on one")
	}
	if s := shapeOf(f); (!f.Required || s.null) && !(raw[0] == '{' && fits(f, raw)) && s.isVoid(raw) {
		return nothing(f)
	}
	if raw = unlinked(raw); fits(f, raw) {
		return whole(f, unfenced(f, raw))
	}
	s := shapeOf(f)
	if bent := s.bend(raw); fits(f, bent) {
		return whole(f, bent)
	}
	return nil, mismatch(f, s, string(raw), nil)
}

// bend gives a JSON value the kind that is asked for, where it says the same:
// "3" as 3, Name as name. It changes nothing that fits.
func (s shape) bend(raw json.RawMessage) json.RawMessage {
	switch {
	case s.any || len(raw) == 0:
		return raw
	case raw[0] == '{' && s.members != nil:
		return s.bendObject(raw)
	case raw[0] == '{' && s.items != nil && s.items.members != nil:
		return s.onlyObject(raw)
	case raw[0] == '[' && s.items != nil:
		return s.bendArray(raw)
	case raw[0] == '[' && s.members != nil:
		return s.onlyItem(raw)
	case raw[0] == '{':
		return s.unboxed(raw)
	case raw[0] == '"':
		return s.bendText(raw)
	case s.number() && s.exact(string(raw)) != nil:
		return s.exact(string(raw))
	case s.text && s.constants == nil && s.format == "" && !s.number() && decimal(string(raw)) != "":
		return Quote(string(raw))
	default:
		return raw
	}
}

func (s shape) bendText(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) != nil || s.text && s.constants == nil && s.format == "" {
		return raw
	}
	for _, spell := range []spelling{shape.literal, shape.exact, shape.itself, shape.glossed, shape.stated, shape.concluded, shape.pronounces, shape.verdict, shape.list} {
		if value := spell(s, text); value != nil {
			return value
		}
	}
	if value := s.single(text); value != nil {
		return value
	}
	return raw
}

func (s shape) bendArray(raw json.RawMessage) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return raw
	}
	if mixed(s.times(raw)) {
		return raw
	}
	for i := range items {
		if !s.items.text || items[i][0] == '"' || asName.Match(items[i]) { // 3 among texts may be a slip
			items[i] = s.items.bend(items[i])
		}
	}
	return encode(items)
}

// asName finds numbers that things are named by, such as a year.
var asName = regexp.MustCompile(`^\d{3,}$`)

func (s shape) bendObject(raw json.RawMessage) json.RawMessage {
	var object signature.Values
	if json.Unmarshal(raw, &object) != nil {
		return raw
	}
	object = s.unflattened(object)
	if less := s.asked(object); less != nil {
		object = less
	}
	bent := object[:0:0]
	for _, v := range object {
		m, known := s.member(v.Name)
		switch _, taken := bent.Get(m.name); {
		case !known || taken:
			bent = append(bent, v)
		case !m.required && !m.shape.null && m.shape.isVoid(v.JSON):
		default:
			bent = append(bent, signature.Value{Name: m.name, JSON: m.shape.bend(v.JSON)})
		}
	}
	return encode(bent)
}

// onlyObject is the list of the one object that is given for it, if it is whole.
func (s shape) onlyObject(raw json.RawMessage) json.RawMessage {
	item := s.items.bendObject(raw)
	var object signature.Values
	if json.Unmarshal(item, &object) != nil || !s.items.whole(object) {
		return raw
	}
	return encode([]json.RawMessage{item})
}

// unflattened puts members into the object that they are of, where that is missing,
// all of it stands beside it, and no other could have them.
func (s shape) unflattened(object signature.Values) signature.Values {
	var outer, inner signature.Values
	var home *member
	for _, v := range object {
		if _, known := s.member(v.Name); known {
			outer = append(outer, v)
			continue
		}
		for i, m := range s.members {
			if _, known := m.shape.member(v.Name); !known {
				continue
			}
			if home != nil && home != &s.members[i] {
				return object
			}
			home = &s.members[i]
		}
		inner = append(inner, v)
	}
	if home == nil || !home.required || !home.shape.whole(inner) {
		return object
	}
	if _, given := outer.Get(home.name); given {
		return object
	}
	return append(outer, signature.Value{Name: home.name, JSON: encode(inner)})
}

// whole reports whether members are all that an object must have, and no others.
func (s shape) whole(object signature.Values) bool {
	given := map[string]bool{}
	for _, v := range object {
		m, known := s.member(v.Name)
		if !known || given[m.name] {
			return false
		}
		given[m.name] = true
	}
	return !slices.ContainsFunc(s.members, func(m member) bool { return m.required && !given[m.name] })
}

func encode(v any) json.RawMessage {
	raw, _ := json.Marshal(v) // of JSON that was read
	return raw
}

// member finds a member by its name, or by one that is no other's.
func (s shape) member(name string) (member, bool) {
	same := slices.DeleteFunc(slices.Clone(s.members), func(m member) bool { return m.name != name })
	if len(same) == 0 {
		same = slices.DeleteFunc(slices.Clone(s.members), func(m member) bool { return !sameName(m.name, name) })
	}
	if len(same) != 1 {
		return member{}, false
	}
	return same[0], true
}
