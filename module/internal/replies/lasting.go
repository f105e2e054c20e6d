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

// textsIn are values as they are said.
func textsIn(items []json.RawMessage) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = Undecorated(PlainText(item))
	}
	return texts
}

// inUnit finds what says of the numbers in a reply that they have another unit.
var inUnit = regexp.MustCompile(`(?i)\b(?:in|is|are|unit:?|of) (?:milli|micro)?(?:seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|ms|s|h)\b[^\pL\d]*(?:$|\n)`)

// otherwiseTimed is the error of a time without a unit, if the reply says of its numbers
// that they have one.
func (r reply) otherwiseTimed(values signature.Values) error {
	for _, f := range r.outputs {
		if !timed(f.Schema.Raw()) || !inUnit.MatchString(r.text) || !shapeOf(f).lasts() {
			continue
		}
		if value, given := values.Get(f.Name); given && len(value) < 7 && string(value) != "null" {
			return structural(f.Name, "is a number of nanoseconds, but the reply speaks of another unit; write the number with its unit")
		}
	}
	return nil
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

// remeasured reports whether one of the comments could be the unit of a time.
func (s shape) remeasured(comments []comment) bool {
	return s.lasts() && slices.ContainsFunc(comments, func(c comment) bool {
		value := s.nanoseconds(c.value)
		return value != nil && (s.name == "" || sameName(c.name, s.name)) && s.unitBeside(value, c.text)
	})
}

// Timed are the arguments of a tool, with the times among them that are said with a unit as
// the nanoseconds that its schema asks for.
func Timed(of, args json.RawMessage) json.RawMessage {
	if !timed(of) {
		return args
	}
	return parseShape(of).timed(args)
}

func (s shape) timed(raw json.RawMessage) json.RawMessage {
	switch {
	case raw[0] == '"' && s.lasts() && !s.text:
		if value := s.nanoseconds(PlainText(raw)); value != nil && !bareNumber.MatchString(PlainText(raw)) {
			return value
		}
	case raw[0] == '[' && s.items != nil:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return raw
		}
		for i := range items {
			items[i] = s.items.timed(items[i])
		}
		return encode(items)
	case raw[0] == '{' && s.members != nil:
		var object signature.Values
		if json.Unmarshal(raw, &object) != nil {
			return raw
		}
		for i, v := range object {
			if m, known := s.member(v.Name); known && m.name == v.Name {
				object[i].JSON = m.shape.timed(v.JSON)
			}
		}
		return encode(object)
	}
	return raw
}
