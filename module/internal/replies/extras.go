package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/signature"
)

// Models give more than they were asked for: reasons, a confidence, the telephone
// number beside the address. It is left out, as long as it cannot change what the
// rest says, nor be a part of it by another name.

// reasons are members that explain the answer. What stands before the answer does
// not change it.
var reasons = wordSet("reasoning explanation rationale reason thought thoughts thinking analysis justification")

// besides reports members, behind the answer, that give another.
func (r reply) besides(values, object signature.Values) error {
	for i, v := range object {
		if _, known := fieldNamed(r.outputs, v.Name); known || r.precedes(object[i+1:]) && reasons[strings.ToLower(v.Name)] {
			continue
		}
		if text := PlainText(v.JSON); v.JSON[0] == '"' && r.opposes(values, text) || r.another(values, v) {
			return structural(v.Name, "may give another answer; leave it out")
		}
	}
	return nil
}

// another reports whether a member could be one of the outputs itself, or says that
// there are more items than there are.
func (r reply) another(values signature.Values, v signature.Value) bool {
	for _, f := range r.outputs {
		value, given := values.Get(f.Name)
		s := shapeOf(f)
		var items []json.RawMessage
		if given && s.items != nil && counts[strings.ToLower(v.Name)] && json.Unmarshal(value, &items) == nil && string(v.JSON) != strconv.Itoa(len(items)) {
			return true
		}
		if c := v.JSON[0]; (c == '{' || c == '[') && fits(f, s.bend(v.JSON)) {
			return true
		}
	}
	return false
}

var counts = wordSet("count total number length size n")

// precedes reports whether there are outputs among the members that follow.
func (r reply) precedes(rest signature.Values) bool {
	return slices.ContainsFunc(rest, func(v signature.Value) bool {
		_, known := fieldNamed(r.outputs, v.Name)
		return known
	})
}

// idle reports whether a member that was not asked for can be left out.
func (r reply) idle(v signature.Value) bool {
	if strings.EqualFold(v.Name, "reasoning") || reasons[strings.ToLower(v.Name)] {
		return harmless(v.JSON)
	}
	return !slices.ContainsFunc(r.outputs, func(f signature.Field) bool { return akin(f.Name, v.Name) }) && harmless(v.JSON) && idleName(v.Name)
}

// asked is an object without the members that the shape has no place for. It is nil
// if one of them matters.
func (s shape) asked(object signature.Values) signature.Values {
	kept := object[:0:0]
	for _, v := range object {
		if _, known := s.member(v.Name); known || s.open {
			kept = append(kept, v)
		} else if !s.idle(v) {
			return nil
		}
	}
	return kept
}

// idle reports whether a member that the shape has not can be left out.
func (s shape) idle(v signature.Value) bool {
	same := slices.ContainsFunc(s.members, func(m member) bool {
		_, inside := m.shape.member(v.Name)
		return inside || akin(m.name, v.Name)
	})
	return !same && harmless(v.JSON) && idleName(v.Name)
}

// akin reports whether two names share a word, so that one may be meant by the
// other: mail and email, last_name and name.
func akin(a, b string) bool {
	for _, v := range wordsOf(spaced.Replace(a)) {
		for _, w := range wordsOf(spaced.Replace(b)) {
			if v == w || misspelt(v, w) || len(v) > 3 && strings.Contains(w, v) || len(w) > 3 && strings.Contains(v, w) {
				return true
			}
		}
	}
	return false
}

// misspelt reports whether two words differ by as much as a slip of the hand: they
// have the same letters but for one, or at their beginning.
func misspelt(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	common := 0
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			common, i, j = common+1, i+1, j+1
		case x[i] < y[j]:
			i++
		default:
			j++
		}
	}
	return len(a) > 3 && len(b) > 3 && common >= max(len(a), len(b))-1
}

// idleName reports whether a name says nothing about the rest.
func idleName(name string) bool {
	return !slices.ContainsFunc(wordsOf(spaced.Replace(name)), func(w string) bool {
		return corrections[w] || hedges[w] || qualifies[w]
	})
}

// qualifies are words in the names of members that are about the other members.
var qualifies = wordSet(`unit units scale currency precision max min maximum minimum range approximate approximated
	warning warnings caveat caveats errors status partial incomplete truncated placeholder example examples
	draft previous old new remaining others rest next valid invalid negated sign factor multiplier percent`)

var denies = regexp.MustCompile(`(?i)^\W*(?:sorry\b|no\s*[^\s\pL])`)

// harmless reports whether what a member says has no second thought in it.
func harmless(value json.RawMessage) bool {
	text := PlainText(value)
	if courtesies.MatchString(text) && courtesy(text) == "" && !strings.Contains(text, "\n") {
		return true
	}
	return !denies.MatchString(text) && !unsure.MatchString(text) &&
		!slices.ContainsFunc(wordsOf(text), func(w string) bool { return corrections[w] || contracted(w) })
}
