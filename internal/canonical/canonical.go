// Package canonical writes equal JSON values in the same way: with sorted names and one notation of numbers.
package canonical

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Equal reports whether two JSON values are equal. Empty text equals null.
func Equal(a, b []byte) bool { return bytes.Equal(a, b) || JSON(a) == JSON(b) }

// JSON returns the canonical form of a JSON value. It returns text that is not JSON unchanged.
func JSON(raw []byte) string {
	if len(raw) == 0 {
		return "null"
	}
	if !json.Valid(raw) {
		return string(raw)
	}
	return string(Append(nil, raw))
}

// Append appends the canonical form of a JSON value, which must be valid.
func Append(dst, raw []byte) []byte {
	w := writer{dst, raw}
	w.value()
	return w.out
}

// writer reads valid JSON, and writes its canonical form.
type writer struct{ out, rest []byte }

// next skips white space and separators. It returns the byte that follows.
func (w *writer) next() byte {
	w.rest = bytes.TrimLeft(w.rest, " \t\r\n,:")
	return w.rest[0]
}

// take removes the next n bytes and returns them.
func (w *writer) take(n int) (taken []byte) {
	taken, w.rest = w.rest[:n], w.rest[n:]
	return taken
}

func (w *writer) value() {
	switch c := w.next(); {
	case c == '{':
		w.object()
	case c == '[':
		w.out = append(w.out, w.take(1)...)
		for w.next() != ']' {
			w.value()
			w.out = append(w.out, ',')
		}
		w.close()
	case c == '"':
		w.text()
	case c >= 'a': // true, false or null
		w.out = append(w.out, w.word()...)
	default:
		w.out = append(w.out, Number(json.Number(w.word()))...)
	}
}

func (w *writer) word() []byte {
	if end := bytes.IndexAny(w.rest, ",]} \t\r\n"); end >= 0 {
		return w.take(end)
	}
	return w.take(len(w.rest))
}

// close writes the end of an array or object instead of the last comma.
func (w *writer) close() { w.out = append(bytes.TrimSuffix(w.out, []byte(",")), w.take(1)...) }

// member is a member of an object, followed by a comma.
type member struct {
	name       []byte
	start, end int // in the object
}

// object writes the members sorted by their names. Of members with the same name, the last one counts.
func (w *writer) object() {
	var few [8]member
	members, sorted, begin := few[:0], true, len(w.out)
	w.out = append(w.out, w.take(1)...)
	for w.next() != '}' {
		m := member{start: len(w.out) - begin, name: w.text()}
		w.out = append(w.out, ':')
		w.value()
		w.out = append(w.out, ',')
		m.end = len(w.out) - begin
		sorted = sorted && (len(members) == 0 || bytes.Compare(members[len(members)-1].name, m.name) < 0)
		members = append(members, m)
	}
	if !sorted {
		text := bytes.Clone(w.out[begin:])
		slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.name, b.name) })
		w.out = w.out[:begin+1]
		for i, m := range members {
			if i+1 == len(members) || !bytes.Equal(m.name, members[i+1].name) {
				w.out = append(w.out, text[m.start:m.end]...)
			}
		}
	}
	w.close()
}

// text writes a string, and returns it decoded.
func (w *writer) text() []byte {
	plain, end := true, 1
	for ; w.rest[end] != '"'; end++ {
		c := w.rest[end]
		plain = plain && c < utf8.RuneSelf && c != '<' && c != '>' && c != '&' && c != '\\' // the others may be escaped
		if c == '\\' {
			end++
		}
	}
	quoted := w.take(end + 1)
	if plain {
		w.out = append(w.out, quoted...)
		return quoted[1:end]
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // it is valid
	quoted, _ = json.Marshal(text)
	w.out = append(w.out, quoted...)
	return []byte(text)
}

// Number returns a number as an integer without trailing zeros and a power of ten: 1e1 for 10, 10.0 and 0.1e2.
// Number returns a number whose exponent exceeds 32 bits unchanged.
func Number(n json.Number) json.Number {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	power, err := strconv.ParseInt(strings.TrimPrefix(cmp.Or(exponent, "0"), "+"), 10, 32)
	if err != nil {
		return n
	}
	sign := mantissa[:len(mantissa)-len(strings.TrimPrefix(mantissa, "-"))]
	whole, fraction, _ := strings.Cut(mantissa[len(sign):], ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	integer := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(integer) - len(fraction))
	return json.Number(sign + integer + "e" + strconv.FormatInt(power, 10))
}
