package policy

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// values finds secret values in a string. Any character of a value may be escaped as in a
// JSON string or in a URL: \u002B, \/, %2b, + for a space. Lines may end in \r\n.
type values struct {
	byFirst [256][]string
	byHead  map[head][]string
}

// head is the beginning of a value. A string rarely contains one by chance.
type head [3]byte

func (v *values) add(value string) {
	v.insert(value)
	if lines := strings.ReplaceAll(value, "\r\n", "\n"); lines != value {
		v.insert(lines)
	}
}

func (v *values) insert(value string) {
	if v.byHead == nil {
		v.byHead = map[head][]string{}
	}
	h := head([]byte(value[:3]))
	v.byFirst[value[0]] = append(v.byFirst[value[0]], value)
	v.byHead[h] = append(v.byHead[h], value)
}

// at returns the values that may begin at i in s.
func (v *values) at(s string, i int) []string {
	if len(v.byFirst[s[i]]) == 0 || i+3 > len(s) {
		return nil
	}
	h := head([]byte(s[i : i+3]))
	for _, c := range h[1:] {
		if c == '\\' || c == '%' || c == '+' || c == '\r' { // may stand for another character
			return v.byFirst[s[i]]
		}
	}
	return v.byHead[h]
}

// encodings returns a value in hex, and the parts of its base64 that do not depend on the bytes around the value.
func encodings(value string) []string {
	digits := hex.EncodeToString([]byte(value))
	list := []string{digits, strings.ToUpper(digits)}
	for offset := range 3 {
		list = append(list,
			inBase64(base64.RawStdEncoding, value, offset), inBase64(base64.RawURLEncoding, value, offset))
	}
	return list
}

// inBase64 returns the part of an encoding that depends only on text. The offset is the
// number of bytes before text, modulo 3.
func inBase64(e *base64.Encoding, text string, offset int) string {
	encoded := e.EncodeToString(append(make([]byte, offset), text...))
	if (offset+len(text))%3 != 0 {
		encoded = encoded[:len(encoded)-1] // the last character also depends on the bytes after text
	}
	return encoded[(offset*8+5)/6:]
}

type span struct{ start, end int }

// spans appends the places of values in s to found. They may overlap.
func (v *values) spans(s string, found []span) []span {
	for i := range len(s) {
		end := 0
		for _, value := range v.at(s, i) {
			end = max(end, endOf(s, i, value))
		}
		if s[i] == '\\' || s[i] == '%' {
			for _, value := range v.byFirst[characterAt(s, i).bytes[0]] {
				end = max(end, endOf(s, i, value))
			}
		}
		if end > 0 {
			found = append(found, span{i, end})
		}
	}
	return found
}

// endOf returns the end of a value that begins at i in s, or 0 if the value does not occur there. If s can be
// read with and without escapes, it returns the greater end.
func endOf(s string, i int, value string) int {
	unescaped := 0
	if strings.HasPrefix(s[i:], value) {
		unescaped = i + len(value)
	}
	for j := 0; j < len(value); {
		if i >= len(s) {
			return unescaped
		}
		if c := s[i]; c == value[j] && c != '\\' && c != '%' {
			i, j = i+1, j+1
			continue
		}
		next := characterAt(s, i)
		switch c := next.bytes[0]; {
		case strings.HasPrefix(value[j:], string(next.bytes[:next.n])):
			j += next.n
		case value[j] == '\n' && c == '\r': // \n has to follow
		case value[j] == ' ' && c == '+':
			j++
		case value[j] == s[i]: // a \ or % that is not an escape
			j, next.size = j+1, 1
		default:
			return unescaped
		}
		i += next.size
	}
	return max(i, unescaped)
}

// character is a character of a string, or one of its bytes, after unescaping.
type character struct {
	bytes [utf8.UTFMax]byte
	n     int // number of bytes used
	size  int // number of bytes in the string, with the escape
}

func characterAt(s string, i int) character {
	switch {
	case s[i] == '%' && i+2 < len(s):
		if b, ok := hexadecimal(s[i+1 : i+3]); ok {
			return character{[utf8.UTFMax]byte{byte(b)}, 1, 3}
		}
	case s[i] == '\\' && i+1 < len(s):
		if r, size := escapedRune(s[i:]); size > 0 {
			c := character{size: size}
			c.n = utf8.EncodeRune(c.bytes[:], r)
			return c
		}
	}
	return character{[utf8.UTFMax]byte{s[i]}, 1, 1}
}

// escapedRune reads an escape sequence of JSON. The size is 0 if s does not begin with one.
func escapedRune(s string) (r rune, size int) {
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	r, ok := unicodeEscape(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := unicodeEscape(s[6:]); ok {
			return utf16.DecodeRune(r, low), 12
		}
	}
	return r, 6
}

func unicodeEscape(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	return hexadecimal(s[2:6])
}

func hexadecimal(digits string) (rune, bool) {
	n, err := strconv.ParseUint(digits, 16, 16)
	return rune(n), err == nil
}

// replace returns s with the replacement in place of every span. Spans that overlap are
// replaced together.
func replace(s, replacement string, spans []span) string {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	end := 0
	for _, next := range spans {
		if next.start >= end {
			b.WriteString(s[end:next.start])
			b.WriteString(replacement)
		}
		end = max(end, next.end)
	}
	b.WriteString(s[end:])
	return b.String()
}
