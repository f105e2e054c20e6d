package replies

import (
	"bytes"
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// How long something lasts is asked for as an integer of nanoseconds, a time.Duration, and
// often said with another unit: 30s, 2 hours, 1h30m, PT30S. A number alone is what was
// asked for. Anything that could be another unit is not read: it would be wrong by powers
// of ten.

// lasts reports whether a number is how long something lasts.
func (s shape) lasts() bool { return s.integer && s.format == schema.Nanoseconds }

// lengths are units of time in nanoseconds. Months and years are not always as long.
var lengths = func() map[string]*big.Rat {
	all := map[string]*big.Rat{}
	add := func(n int64, words ...string) {
		for _, word := range words {
			all[word] = big.NewRat(n, 1)
		}
	}
	const second = 1_000_000_000
	add(1, "ns", "nsec", "nanos", "nanosecond", "nanoseconds")
	add(1000, "us", "µs", "μs", "usec", "micros", "microsecond", "microseconds")
	add(1_000_000, append(unitSynonyms("ms"), "msec", "msecs", "millis")...)
	add(second, unitSynonyms("seconds")...)
	add(60*second, append(unitSynonyms("minutes"), "m")...)
	add(3600*second, unitSynonyms("hours")...)
	add(24*3600*second, append(unitSynonyms("days"), "d")...)
	add(7*24*3600*second, unitSynonyms("weeks")...)
	return all
}()

// lengthOf is the unit of a word, nil if it is none. Capitals tell some short ones apart.
func lengthOf(unit string) *big.Rat {
	if len(unit) > 2 {
		unit = strings.ToLower(unit)
	}
	return lengths[unit]
}

// timePart is a number with its unit, and what may stand before the next: 1 hour and 30 minutes.
var timePart = regexp.MustCompile(`^(?:(\d[\d.,]*)[ \x{a0}\x{202f}-]?|([a-zA-Z]+(?:-[a-zA-Z]+)?) )(\pL+)\.?(?:(?:,| and|, and)? |$|)`)

// lasting is how many nanoseconds a text says, nothing if it isn't certain.
func lasting(text string) string {
	if m := isoTime.FindStringSubmatch(text); m != nil {
		text = isoText(m)
	}
	rest, negative := strings.CutPrefix(text, "-")
	if m := halfOf.FindStringSubmatch(rest); m != nil {
		rest = map[bool]string{true: "0.5 ", false: "1 "}[m[1] != ""] + m[2]
	}
	sum, last := new(big.Rat), (*big.Rat)(nil)
	for rest != "" {
		m := timePart.FindStringSubmatch(rest)
		if m == nil || m[0] == "" {
			return ""
		}
		n, unit := ratioOf(m[1]+m[2]), lengthOf(m[3])
		if n == nil || unit == nil || last != nil && unit.Cmp(last) >= 0 {
			return ""
		}
		sum.Add(sum, n.Mul(n, unit))
		last, rest = unit, rest[len(m[0]):]
	}
	if negative {
		sum.Neg(sum)
	}
	if last == nil || !sum.IsInt() || !sum.Num().IsInt64() {
		return ""
	}
	return sum.Num().String()
}

// halfOf finds a unit without a number: an hour, half a minute.
var halfOf = regexp.MustCompile(`^(?i)(half )?an? (\pL+)$`)

// ratioOf is a number that is written in digits or words; nil where it isn't certain
// which.
func ratioOf(word string) *big.Rat {
	text := strings.TrimRight(word, ".,")
	if text != word || maybeThousands.MatchString(text) || len(text) > 30 {
		return nil
	}
	n, ok := new(big.Rat).SetString(numeral(shape{fraction: true}, text))
	if !ok {
		return nil
	}
	return n
}

// isoTime finds durations of ISO 8601, without those of months and years.
var isoTime = regexp.MustCompile(`^(-?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)

// isoText is such a duration with its units as they are mostly written.
func isoText(m []string) string {
	var parts []string
	for i, unit := range []string{"weeks", "days", "h", "min", "s"} {
		if n := m[2+i]; n != "" {
			parts = append(parts, n+" "+unit)
		}
	}
	return m[1] + strings.Join(parts, " ")
}

// bareNumber is one without a unit.
var bareNumber = regexp.MustCompile(`^[+-]?\d[\d.,_ '’]*(?:[eE]\+?\d+)?$`)

// nanoseconds is what a word says, which is all of a value.
func (s shape) nanoseconds(word string) json.RawMessage {
	number := lasting(word)
	if bareNumber.MatchString(word) {
		number = numeral(s.unitless(), word)
	}
	if number == "" {
		return nil
	}
	return json.RawMessage(number)
}

// mixed reports whether only some of several times have a unit, which may be that of all:
// 10, 20, 30 s.
func mixed(times []string) bool {
	bare := slices.ContainsFunc(times, bareNumber.MatchString)
	return bare && slices.ContainsFunc(times, func(t string) bool { return !bareNumber.MatchString(t) })
}

// inUnit finds what says of the numbers in a reply that they have a unit: in seconds, or
// the unit alone, behind what they are.
var inUnit = regexp.MustCompile(`(?im)(?:\b(?:in|is|are|unit:?|of) (?:(?:US|euro) )?|^[^\d\n]*\()([\pL€$£¥°%]+)[^\pL\d\n]*$`)

// otherwiseMeasured is the error of a number, if the reply says of its numbers that they
// have another unit than it has. What is said within texts is about anything.
func (r reply) otherwiseMeasured(values signature.Values) error {
	times, bare := r.times(values), map[string]bool(nil)
	if times != nil {
		bare = withoutUnit(r.text)
	}
	numbers := r.measured(values, bare)
	if numbers == nil {
		return r.otherwiseTimed(times, bare)
	}
	said := quotedTexts.ReplaceAllString(r.text, " ")
	for _, v := range values {
		if text := PlainText(v.JSON); v.JSON[0] == '"' && strings.Contains(text, " ") {
			said = strings.ReplaceAll(said, text, " ")
		}
	}
	for _, m := range inUnit.FindAllStringSubmatch(said, -1) {
		if slices.ContainsFunc(numbers, func(n measured) bool { return n.saysUnit(m[1]) }) {
			continue // said of that one
		}
		for _, n := range numbers {
			if n.lasts() && inOtherUnit(m[1]) {
				return structural(n.field, "is a number of nanoseconds, but the reply speaks of another unit; write the number with its unit")
			}
			if n.otherUnit(m[0]) && (!conversion.MatchString(said) || unconverted.MatchString(said)) {
				return structural(n.field, "has its unit in its name, but the reply speaks of another; convert the number")
			}
		}
	}
	return r.otherwiseTimed(times, bare)
}

var (
	conversion  = regexp.MustCompile(`(?i)\bconver(?:ted|ting|sion)\b`)
	unconverted = regexp.MustCompile(`(?i)(?:\b(?:not|never|without|no)|n't)\b[^.\n]{0,20}\bconver`)
)

// measured is a number that was not said with its unit, though it has one, and the name of
// the field that it is in.
type measured struct {
	shape
	field string
}

// measured are such numbers, one of each kind. A long time that is not in the reply as it is
// was said with its unit.
func (r reply) measured(values signature.Values, bare map[string]bool) (all []measured) {
	for _, f := range r.outputs {
		if value, given := values.Get(f.Name); given {
			shapeOf(f).mapped(value, func(s shape, number json.RawMessage) json.RawMessage {
				isTime := s.lasts() && lastsAny(number) && (len(number) < 7 || len(number) < 10 && bare[unsigned(number)])
				isNamed := s.number() && number[0] != 'n' && (s.unitInName() != "" || s.saysCurrency())
				known := func(m measured) bool { return m.field == f.Name && m.name == s.name && m.lasts() == s.lasts() }
				if (isTime || isNamed) && !slices.ContainsFunc(all, known) {
					all = append(all, measured{s, f.Name})
				}
				return number
			})
		}
	}
	return all
}

// quotedTexts finds texts of JSON.
var quotedTexts = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)

// inOtherUnit reports whether a word is a unit of time that no number alone has.
func inOtherUnit(word string) bool {
	unit := lengthOf(word)
	return unit != nil && unit.Cmp(lengths["ns"]) != 0
}

// otherwiseTimed is the error of times of which only some have a unit, or of one without,
// if the reply has the same number with one.
func (r reply) otherwiseTimed(times []string, bare map[string]bool) error {
	if times == nil {
		return nil
	}
	given := map[string]bool{}
	for _, time := range times {
		given[time] = true
		if bare[time] != bare[times[0]] {
			return errMixed
		}
	}
	for _, m := range numberInUnit.FindAllStringSubmatch(ungrouped(r.text), -1) {
		if given[m[1]] && inOtherUnit(m[2]) {
			return structural("", "%s is a number of nanoseconds, but the reply speaks of %[1]s %s; write the number with its unit", m[1], m[2])
		}
	}
	return nil
}

var errMixed = structural("", "only some of the times have a unit; write every number with its unit")

// asAskedFor finds numbers of nanoseconds that are said to be that.
var asAskedFor = regexp.MustCompile(`\d[\d.,_]*[ -]?(?:ns|nanos(?:ec(?:ond)?s?)?)\b`)

var numberInUnit = regexp.MustCompile(`(\d+)[ \x{a0}\x{202f}-]?(\pL+)`)

// withoutUnit are the numbers in a text, as they are written, but for those of nanoseconds
// that are said to be that.
func withoutUnit(text string) map[string]bool {
	text = asAskedFor.ReplaceAllString(text, " ")
	all := map[string]bool{}
	for _, written := range []string{text, ungrouped(text)} {
		for _, number := range wholeNumbers.FindAllString(written, -1) {
			all[number] = true
		}
	}
	return all
}

var wholeNumbers = regexp.MustCompile(`\d+`)

// ungrouped is a text with its thousands as one number.
func ungrouped(text string) string { return thousandsIn.ReplaceAllString(text, "$1") }

var thousandsIn = regexp.MustCompile(`[,_ '’](\d{3})\b`)

// times are those in values, as they are said, without their signs.
func (r reply) times(values signature.Values) (times []string) {
	for _, v := range values {
		if f, known := fieldNamed(r.outputs, v.Name); known && timed(f.Schema.Raw()) {
			times = append(times, shapeOf(f).times(v.JSON)...)
		}
	}
	return times
}

func (s shape) times(raw json.RawMessage) (times []string) {
	s.mapped(raw, func(s shape, raw json.RawMessage) json.RawMessage {
		if s.lasts() && lastsAny(raw) {
			times = append(times, unsigned(raw))
		}
		return raw
	})
	return times
}

func unsigned(time json.RawMessage) string {
	return strings.TrimPrefix(Undecorated(PlainText(time)), "-")
}

// lastsAny reports whether a value may be how long something lasts, and not no time at all,
// which is the same in any unit.
func lastsAny(raw json.RawMessage) bool {
	return raw[0] == '"' || raw[0] == '-' || raw[0] >= '1' && raw[0] <= '9'
}

// timed reports whether there may be times in what a schema is of, which spares others the
// look.
func timed(of json.RawMessage) bool { return bytes.Contains(of, []byte(schema.Nanoseconds)) }

// unitBeside reports whether what stands beside a time could be its unit, or another time.
// The same time in another unit is neither.
func (s shape) unitBeside(value json.RawMessage, beside string) bool {
	return !s.lastsAsLong(value, beside) && (strings.ContainsFunc(beside, unicode.IsDigit) || slices.ContainsFunc(wordsOf(beside), func(w string) bool {
		_, kind := unitOf(w)
		return kind != "" || lengths[w] != nil || isNumeral(w)
	}))
}

// lastsAsLong reports whether a text is the same time once more: 90 s (1.5 minutes).
func (s shape) lastsAsLong(value json.RawMessage, text string) bool {
	again := s.nanoseconds(strings.Trim(text, " \n()[]=,;:.–—"))
	return again != nil && equalJSON(value, again)
}

// remeasured reports whether one of the comments could be the unit of a time, or is
// another than the number's.
func (s shape) remeasured(comments []comment) bool {
	return s.number() && slices.ContainsFunc(comments, func(c comment) bool {
		if s.name != "" && !sameName(c.name, s.name) {
			return false
		}
		if !s.lasts() {
			return s.otherUnit(c.text)
		}
		value := s.nanoseconds(c.value)
		return value != nil && s.unitBeside(value, c.text)
	})
}

// Timed are the arguments of a tool, with the times among them that are said with a unit as
// the nanoseconds that its schema asks for, if all are.
func Timed(of, args json.RawMessage) json.RawMessage {
	if !timed(of) {
		return args
	}
	s := parseShape(of)
	if mixed(s.times(args)) {
		return args
	}
	return s.mapped(args, func(s shape, raw json.RawMessage) json.RawMessage {
		if raw[0] != '"' || !s.lasts() || s.text {
			return raw
		}
		if value := s.nanoseconds(PlainText(raw)); value != nil && !bareNumber.MatchString(PlainText(raw)) {
			return value
		}
		return raw
	})
}

// mapped is a value with what is made of each scalar in it.
func (s shape) mapped(raw json.RawMessage, of func(shape, json.RawMessage) json.RawMessage) json.RawMessage {
	switch {
	case raw[0] == '[' && s.items != nil:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return raw
		}
		for i := range items {
			items[i] = s.items.mapped(items[i], of)
		}
		return encode(items)
	case raw[0] == '{' && s.members != nil:
		var object signature.Values
		if json.Unmarshal(raw, &object) != nil {
			return raw
		}
		for i, v := range object {
			if m, known := s.member(v.Name); known && m.name == v.Name {
				object[i].JSON = m.shape.mapped(v.JSON, of)
			}
		}
		return encode(object)
	}
	return of(s, raw)
}
