package replies

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// A model may put a value into an object that says more about it, or give the only item
// of a list without the list: {"value": 330, "unit": "g"}.

// unboxed is the value in an object that is given for something else.
func (s shape) unboxed(raw json.RawMessage) json.RawMessage {
	var object signature.Values
	if json.Unmarshal(raw, &object) != nil {
		return raw
	}
	if value := s.valueIn(object); value != nil {
		return s.bend(value)
	}
	if s.items == nil || s.items.members == nil {
		return raw
	}
	var item signature.Values
	if bent := s.items.bendObject(raw); json.Unmarshal(bent, &item) == nil && s.items.whole(item) {
		return slices.Concat([]byte("["), bent, []byte("]"))
	}
	return raw
}

// unboxedScalar is the same where no object is asked for.
func (s shape) unboxedScalar(raw json.RawMessage) json.RawMessage {
	if s.members != nil || s.any {
		return raw
	}
	return s.unboxed(raw)
}

// onlyItem is the only object of a list that is given for one.
func (s shape) onlyItem(raw json.RawMessage) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil || len(items) != 1 || items[0][0] != '{' {
		return raw
	}
	return s.bend(items[0])
}

// boxed reads such an object, where no other is asked for.
func (s shape) boxed(text string) json.RawMessage {
	if s.members != nil || !strings.HasPrefix(text, "{") {
		return nil
	}
	raw, l, err := readLax(text)
	if err != nil || l.unclosed || l.bare || !blank(text[l.at:]) {
		return nil
	}
	if value := s.unboxed(raw); !equalJSON(value, raw) {
		return value
	}
	return nil
}

// valueIn is the member of an object that is the value, if the others only say what it
// is, in a unit that can be that of the shape.
func (s shape) valueIn(object signature.Values) (value json.RawMessage) {
	for _, v := range object {
		name := strings.ToLower(v.Name)
		switch {
		case value == nil && (valueNames[name] || sameName(s.name, v.Name) || s.items != nil && listNames[name]):
			value = v.JSON
		case unitMembers[name] && s.suitsUnit(v.JSON), isEmpty(v.JSON):
		case !annotations[name] || !harmless(v.JSON) || inexact(v) || isTalk(v.JSON) && dubious(PlainText(v.JSON)):
			return nil
		}
	}
	if value != nil && value[0] == '{' {
		return nil
	}
	return value
}

var (
	valueNames  = wordSet("value val amount content text result")
	annotations = wordSet("type kind format description source reason reasoning explanation label")
)
