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
	switch c := w.next(); c {
	case '{':
		w.object()
	case '[':
		w.out = append(w.out, w.take(1)...)
		for i := 0; w.next() != ']'; i++ {
			w.separate(i)
			w.value()
		}
		w.out = append(w.out, w.take(1)...)
	case '"':
		w.text()
	default:
		end := bytes.IndexAny(w.rest, ",]} \t\r\n")
		if end < 0 {
			end = len(w.rest)
		}
		if word := w.take(end); c >= 'a' {
			w.out = append(w.out, word...)
		} else {
			w.out = append(w.out, Number(json.Number(word))...)
		}
	}
}

// separate writes the comma before the member or element i.
func (w *writer) separate(i int) {
	if i > 0 {
		w.out = append(w.out, ',')
	}
}

// member is a member of an object that was written.
type member struct {
	name       []byte
	start, end int // in the output
}

func (w *writer) object() {
	var few [8]member
	members, begin := few[:0], len(w.out)
	w.out = append(w.out, w.take(1)...)
	for w.next() != '}' {
		w.separate(len(members))
		m := member{start: len(w.out), name: w.text()}
		w.out = append(w.out, ':')
		w.value()
		m.end = len(w.out)
		members = append(members, m)
	}
	w.sort(members, begin)
	w.out = append(w.out, w.take(1)...)
}

// sort writes the members of the object that begins at an offset again, sorted by name. Of members with the same name,
// the last one counts.
func (w *writer) sort(members []member, begin int) {
	sorted := true
	for i := 1; i < len(members) && sorted; i++ {
		sorted = bytes.Compare(members[i-1].name, members[i].name) < 0
	}
	if sorted {
		return
	}
	text := bytes.Clone(w.out[begin:])
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	w.out = w.out[:begin+1]
	for i, m := range members {
		if i+1 == len(members) || !bytes.Equal(m.name, members[i+1].name) {
			w.separate(len(w.out) - begin - 1)
			w.out = append(w.out, text[m.start-begin:m.end-begin]...)
		}
	}
}

// text writes a string, and returns it decoded.
func (w *writer) text() []byte {
	plain, end := true, 1
	for ; w.rest[end] != '"'; end++ {
		switch c := w.rest[end]; {
		case c == '\\':
			plain, end = false, end+1
		case c >= utf8.RuneSelf, c == '<', c == '>', c == '&': // encoding/json escapes some of them
			plain = false
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
