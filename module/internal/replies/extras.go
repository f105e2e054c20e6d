package replies

import (
	"encoding/json"
	"maps"
	"math/big"
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
		if speaks := remarkNames[strings.ToLower(v.Name)] || reasons[strings.ToLower(v.Name)] || isTalk(v.JSON); speaks && r.speaksAgainst(values, PlainText(v.JSON)) || r.another(values, object, v) {
			return structural(v.Name, "may give another answer; leave it out")
		}
	}
	return nil
}

// speaksAgainst reports whether what is said of values takes them back or gives others.
func (r reply) speaksAgainst(values signature.Values, text string) bool {
	return r.opposes(values, inBraces.ReplaceAllString(text, "")) || slices.ContainsFunc(remarksIn(text), func(sentence string) bool {
		return len(wordsOf(sentence)) > 4 && r.withdraws(values, sentence)
	})
}

// moreOf reports whether a name says that there is more of what is given.
func moreOf(name string) bool {
	return slices.ContainsFunc(wordsOf(spaced.Replace(name)), func(w string) bool { return further[w] })
}

var further = wordSet("other others more additional all full extra further complete second list items values")

// isTalk reports whether a member is a text in words, and not another thing that was
// found: a telephone number, a name.
func isTalk(value json.RawMessage) bool {
	return value[0] == '"' && len(talkWords.FindAllString(PlainText(value), 3)) == 3
}

var talkWords = regexp.MustCompile(`\pL{2,}`)

// another reports whether a member could be one of the outputs itself, or says that
// there are more items than there are.
func (r reply) another(values, object signature.Values, v signature.Value) bool {
	for _, f := range r.outputs {
		value, given := values.Get(f.Name)
		s := shapeOf(f)
		if given && conclusions[strings.ToLower(f.Name)] && conclusions[strings.ToLower(v.Name)] && s.holds(v.JSON) && !sameValue(f, v.JSON, value, true) {
			return true
		}
		if given && s.items != nil && counts[strings.ToLower(v.Name)] && !tallies(value, v) && !(strings.EqualFold(v.Name, "total") && s.items.drops(object, f)) {
			return true
		}
		if given && s.number() && counts[strings.ToLower(v.Name)] && decimal(PlainText(v.JSON)) != "" && !equalJSON(value, json.RawMessage(decimal(PlainText(v.JSON)))) {
			return true
		}
		if c := v.JSON[0]; c == '{' && fits(f, s.bend(v.JSON)) || c == '[' && fits(f, s.bend(v.JSON)) && (!given || s.items == nil || !s.items.text || moreOf(v.Name)) {
			return true
		}
		if given && s.constants != nil && v.JSON[0] == '"' {
			if other := s.constant(PlainText(v.JSON)); other != nil && !equalJSON(other, value) {
				return true
			}
		}
	}
	return false
}

// drops reports whether the items that are given for a field have numbers that were not
// asked for, of which there may be a total.
func (s shape) drops(object signature.Values, f signature.Field) bool {
	var items []signature.Values
	return slices.ContainsFunc(object, func(v signature.Value) bool {
		return sameName(v.Name, f.Name) && json.Unmarshal(v.JSON, &items) == nil && slices.ContainsFunc(items, func(item signature.Values) bool {
			return slices.ContainsFunc(item, func(v signature.Value) bool {
				_, known := s.member(v.Name)
				return !known && decimal(PlainText(v.JSON)) != ""
			})
		})
	})
}

// conclusions are names that all mean the answer.
var conclusions = wordSet("answer result response output reply solution conclusion value final")

// tallies reports whether a member says how many items there are, or is the total of one
// of their numbers, or of the products of all of them.
func tallies(list json.RawMessage, v signature.Value) bool {
	var items []any
	number, ok := new(big.Rat).SetString(decimal(PlainText(v.JSON)))
	if json.Unmarshal(list, &items) != nil || !ok {
		return false
	}
	sums := map[string]*big.Rat{"": big.NewRat(int64(len(items)), 1)}
	for _, item := range items {
		if object, ok := item.(map[string]any); ok && strings.EqualFold(v.Name, "total") {
			addNumbers(sums, object)
		}
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(sums)), func(sum *big.Rat) bool { return sum.Cmp(number) == 0 })
}

// addNumbers adds each number of an object to its sum, and the product of all to another.
func addNumbers(sums map[string]*big.Rat, object map[string]any) {
	product := big.NewRat(1, 1)
	add := func(name string, n *big.Rat) {
		if sums[name] == nil {
			sums[name] = new(big.Rat)
		}
		sums[name].Add(sums[name], n)
	}
	for name, v := range object {
		if n, ok := v.(float64); ok {
			part, _ := new(big.Rat).SetString(strconv.FormatFloat(n, 'f', -1, 64))
			product.Mul(product, part)
			add("sum of "+name, part)
		}
	}
	add("sum of products", product)
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
	if isEmpty(v.JSON) || r.isUnit(v) || successes[strings.ToLower(v.Name)] && succeeded[strings.ToLower(PlainText(v.JSON))] {
		return true
	}
	if strings.EqualFold(v.Name, "reasoning") || reasons[strings.ToLower(v.Name)] {
		return harmless(v.JSON)
	}
	if failed(v) || inexact(v) || doubtsItself(v) || maybe.MatchString(PlainText(v.JSON)) {
		return false
	}
	return !slices.ContainsFunc(r.outputs, func(f signature.Field) bool { return akin(f.Name, v.Name) }) && harmless(v.JSON) && idleName(v.Name)
}

// missed reports whether a member may be an optional output that the object lacks.
func (r reply) missed(object signature.Values, v signature.Value) bool {
	if certainties[strings.ToLower(v.Name)] || serials[strings.ToLower(v.Name)] {
		return false
	}
	return slices.ContainsFunc(r.outputs, func(f signature.Field) bool {
		remarks := remarkNames[strings.ToLower(f.Name)] && remarkNames[strings.ToLower(v.Name)]
		return member{name: f.Name, required: f.Required}.lacks(object) && (remarks && !isEmpty(v.JSON) || shapeOf(f).couldBe(v.JSON))
	})
}

// serials are members that number what is given, or say where it stands.
var serials = wordSet("id index page line version score tokens")

// isEmpty reports whether there is nothing in a value.
func isEmpty(value json.RawMessage) bool {
	switch string(value) {
	case "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// isUnit reports whether a member is the unit of a number, which says no more than what
// it counts.
func (r reply) isUnit(v signature.Value) bool {
	return unitMembers[strings.ToLower(v.Name)] && !slices.ContainsFunc(r.outputs, func(f signature.Field) bool { return shapeOf(f).number() && !shapeOf(f).suitsUnit(v.JSON) })
}

var unitMembers = wordSet("unit units currency")

// suitsUnit reports whether a unit can be that of a field: it does not multiply, and is no
// other than the one in the name of the field.
func (s shape) suitsUnit(unit json.RawMessage) bool {
	switch {
	case unit[0] != '"':
		return false
	case s.lasts():
		length := lengthOf(PlainText(unit))
		return length != nil && length.Cmp(lengths["ns"]) == 0
	}
	words := wordsOf(PlainText(unit))
	if len(words) > 3 || strings.ContainsAny(PlainText(unit), "%‰?~0123456789") || slices.ContainsFunc(words, func(w string) bool { return scaling[w] || hedges[w] || corrections[w] }) {
		return false
	}
	own := slices.DeleteFunc(wordsOf(spaced.Replace(s.name)), func(w string) bool { return !knownUnits[strings.TrimSuffix(w, "s")] })
	return len(own) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.TrimSuffix(w, "s") == strings.TrimSuffix(own[0], "s") })
}

var (
	scaling    = wordSet("thousand thousands tsd k m mn mio million millions bn billion billions mrd hundred hundreds dozen dozens pair pairs percent pct lakh crore cents cent")
	knownUnits = wordSet("second minute hour day week month year m kg g gram mg lb pound oz ounce ton tonne km cm mm meter metre mile feet foot inch inche liter litre ml eur usd gbp euro dollar cent celsiu fahrenheit percent")
)

// inexact reports whether a member says in a word or two that the rest isn't exact.
func inexact(v signature.Value) bool {
	words := wordsOf(PlainText(v.JSON))
	return v.JSON[0] == '"' && len(words) < 4 && slices.ContainsFunc(words, func(w string) bool { return inexactly[w] })
}

var inexactly = wordSet("partly half mostly mainly approximate approx approximately about rough roughly estimate estimated estimation partial partially incomplete preliminary unverified unconfirmed uncertain unsure unclear")

// doubtsItself reports whether a member says that the rest is not certain.
func doubtsItself(v signature.Value) bool {
	said := strings.ToLower(PlainText(v.JSON))
	n, ok := new(big.Rat).SetString(decimal(said))
	return certainties[strings.ToLower(v.Name)] && (ok && n.Cmp(big.NewRat(1, 2)) < 0 || lowly[said])
}

var lowly = wordSet("low lowest none weak poor unsure uncertain")

// failed reports whether a member says that it went wrong.
func failed(v signature.Value) bool {
	name := strings.ToLower(v.Name)
	if granted[strings.TrimPrefix(strings.TrimPrefix(name, "is_"), "is")] && (string(v.JSON) == "false" || string(v.JSON) == `"no"`) {
		return true
	}
	if !successes[name] {
		return false
	}
	switch strings.ToLower(PlainText(v.JSON)) {
	case "false", "no", "error", "failed", "failure", "fail":
		return true
	}
	return false
}

// granted are members that say, if they are false, that the answer is none, or not certain.
var granted = wordSet("found known certain sure verified confirmed complete available answerable exact accurate correct reliable trusted")

// speaksOfMembers reports whether what is said behind an object speaks of one of its
// members, and so may change it: the age is a guess. That one is lacking doesn't.
func (s shape) speaksOfMembers(behind string) bool {
	if blank(behind) || s.members == nil {
		return false
	}
	words := wordsOf(lacks.ReplaceAllString(behind, ""))
	return slices.ContainsFunc(s.members, func(m member) bool {
		return slices.ContainsFunc(words, func(w string) bool { return sameName(m.name, w) }) || m.shape.speaksOfMembers(behind)
	})
}

// asked is an object without the members that the shape has no place for. It is nil
// if one of them matters.
func (s shape) asked(object signature.Values) signature.Values {
	kept := object[:0:0]
	for _, v := range object {
		if _, known := s.member(v.Name); known || s.open {
			kept = append(kept, v)
		} else if !s.idle(v) || slices.ContainsFunc(s.members, func(m member) bool { return m.lacks(object) && m.shape.couldBe(v.JSON) }) {
			return nil
		}
	}
	return kept
}

// known reports whether the shape has a place for every member of a value.
func (s shape) known(raw json.RawMessage) bool {
	var object signature.Values
	var items []json.RawMessage
	switch {
	case len(raw) > 0 && raw[0] == '{' && s.members != nil && json.Unmarshal(raw, &object) == nil:
		return !slices.ContainsFunc(object, func(v signature.Value) bool {
			m, known := s.member(v.Name)
			return !known && !s.open || !m.shape.known(v.JSON)
		})
	case len(raw) > 0 && raw[0] == '[' && s.items != nil && json.Unmarshal(raw, &items) == nil:
		return !slices.ContainsFunc(items, func(item json.RawMessage) bool { return !s.items.known(item) })
	}
	return true
}

// hasAll reports whether no member is missing in a value, not one that may be.
func (s shape) hasAll(raw json.RawMessage) bool {
	var object signature.Values
	if s.members == nil || json.Unmarshal(raw, &object) != nil {
		return true
	}
	return !slices.ContainsFunc(s.members, func(m member) bool {
		return !slices.ContainsFunc(object, func(v signature.Value) bool { return sameName(m.name, v.Name) && m.shape.hasAll(v.JSON) })
	})
}

// lacks reports whether an object lacks a member, which it may.
func (m member) lacks(object signature.Values) bool {
	return !m.required && !slices.ContainsFunc(object, func(v signature.Value) bool { return sameName(m.name, v.Name) })
}

// couldBe reports whether a value can be one of the shape, by another name. A text has
// nothing but its name to tell what it is.
func (s shape) couldBe(value json.RawMessage) bool {
	switch value[0] {
	case '{':
		var object signature.Values
		return s.members != nil && json.Unmarshal(s.bend(value), &object) == nil && s.whole(object)
	case '[':
		return s.items != nil
	case '"':
		return s.constant(PlainText(value)) != nil
	case 't', 'f':
		return s.boolean
	case 'n':
		return false
	}
	return s.number() && s.inRange(string(value)) && (s.fraction || !strings.ContainsAny(string(value), ".eE"))
}

// idle reports whether a member that the shape has not can be left out.
func (s shape) idle(v signature.Value) bool {
	same := slices.ContainsFunc(s.members, func(m member) bool {
		_, inside := m.shape.member(v.Name)
		return inside || akin(m.name, v.Name)
	})
	if isEmpty(v.JSON) || unitMembers[strings.ToLower(v.Name)] {
		return isEmpty(v.JSON) || !slices.ContainsFunc(s.members, func(m member) bool { return m.shape.number() && !m.shape.suitsUnit(v.JSON) })
	}
	return !same && harmless(v.JSON) && idleName(v.Name)
}

// akin reports whether two names share a word, so that one may be meant by the
// other: mail and email, last_name and name.
func akin(a, b string) bool {
	for _, v := range wordsOf(spaced.Replace(a)) {
		for _, w := range wordsOf(spaced.Replace(b)) {
			if v == w || misspelt(v, w) || inflected(v, w) || len(v) > 3 && strings.Contains(w, v) || len(w) > 3 && strings.Contains(v, w) {
				return true
			}
		}
	}
	return false
}

// inflected reports whether two words have a stem of five letters or more, and endings of
// two or less: urgent and urgency.
func inflected(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= 5 && len(a)-n <= 2 && len(b)-n <= 2
}

// misspelt reports whether two words differ by as much as a slip of the hand: they
// have the same letters but for one, and the same at their beginning.
func misspelt(a, b string) bool {
	if len(a) < 4 || len(b) < 4 || a[0] != b[0] {
		return false
	}
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
	return common >= max(len(a), len(b))-1
}

// idleName reports whether a name says nothing about the rest.
func idleName(name string) bool {
	words := wordsOf(spaced.Replace(name))
	if n := len(words) - 1; n > 0 && knownUnits[words[n]] {
		words = words[:n] // height_m
	}
	return !slices.ContainsFunc(words, func(w string) bool { return corrections[w] || hedges[w] || qualifies[w] })
}

// qualifies are words in the names of members that are about the other members.
var qualifies = wordSet(`unit units scale currency precision max min maximum minimum range approximate approximated
	warning warnings caveat caveats errors status partial incomplete truncated placeholder example examples
	draft previous old new remaining others rest next valid invalid negated sign factor multiplier percent
	adjusted normalized normalised scaled alt fallback backup template schema rejected`)

var denies = regexp.MustCompile(`(?i)^\W*(?:sorry\b|no\s*[^\s\pL])`)

// harmless reports whether what a member says has no second thought in it.
func harmless(value json.RawMessage) bool {
	text := PlainText(value)
	if courtesies.MatchString(text) && courtesy(text) == "" && !strings.Contains(text, "\n") {
		return true
	}
	return !denies.MatchString(text) && !unsure.MatchString(text) && !slices.ContainsFunc(remarksIn(text), func(sentence string) bool { return (reply{}).withdraws(nil, sentence) })
}
