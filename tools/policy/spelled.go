package policy

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// spellings finds values any character of which may be written as in a JSON string
// or in a URL: \u002B, \/, %2b, + for a space. A line may end in \r\n.
type spellings struct {
	byFirst [256][]string
	pairs   [1 << 10]uint64 // a bit for each two bytes that a value begins with
	any     bool
}

func (p *spellings) set(values []string) {
	for _, v := range values {
		v = strings.ReplaceAll(v, "\r\n", "\n")
		p.byFirst[v[0]] = append(p.byFirst[v[0]], v)
		p.pairs[pair(v, 0)/64] |= 1 << (pair(v, 0) % 64)
		p.any = true
	}
}

func pair(s string, i int) int { return int(s[i])<<8 | int(s[i+1]) }

// begins reports, quickly, whether a value may begin at i.
func (p *spellings) begins(s string, i int) bool {
	if i+1 == len(s) || odd(s[i]) || odd(s[i+1]) {
		return true
	}
	return p.pairs[pair(s, i)/64]&(1<<(pair(s, i)%64)) != 0
}

// odd reports whether a byte may stand for another, or begin what does.
func odd(c byte) bool { return c == '\\' || c == '%' || c == '+' || c == '\r' }

// spans appends where values are that are not written plainly.
func (p *spellings) spans(s string, found []span) []span {
	if !p.any || !strings.ContainsAny(s, "\\%+\r") {
		return found
	}
	for i := range len(s) {
		if !p.begins(s, i) {
			continue
		}
		first := s[i]
		if first == '\\' || first == '%' {
			first = unitAt(s, i).bytes[0]
		}
		end := 0
		for _, v := range p.byFirst[first] {
			end = max(end, spelledTo(s, i, v))
		}
		if end > 0 {
			found = append(found, span{i, end})
		}
	}
	return found
}

// spelledTo returns where a value ends that begins at i, 0 if it does not.
func spelledTo(s string, i int, value string) int {
	for j := 0; j < len(value); {
		if i >= len(s) {
			return 0
		}
		if c := s[i]; c == value[j] && c != '\\' && c != '%' {
			i, j = i+1, j+1
			continue
		}
		u := unitAt(s, i)
		switch c := u.bytes[0]; {
		case strings.HasPrefix(value[j:], string(u.bytes[:u.n])):
			j += u.n
		case value[j] == '\n' && c == '\r': // which \n has to follow
		case value[j] == ' ' && c == '+':
			j++
		case value[j] == s[i]: // a \ or % that means itself
			j, u.size = j+1, 1
		default:
			return 0
		}
		i += u.size
	}
	return i
}

// unit is one character of a text, or a byte of it, and how many bytes it is
// written with.
type unit struct {
	bytes   [utf8.UTFMax]byte
	n, size int
}

func unitAt(s string, i int) unit {
	switch {
	case s[i] == '%' && i+2 < len(s):
		if b, ok := hexadecimal(s[i+1 : i+3]); ok {
			return unit{[utf8.UTFMax]byte{byte(b)}, 1, 3}
		}
	case s[i] == '\\' && i+1 < len(s):
		if r, size := escapedRune(s[i:]); size > 0 {
			u := unit{size: size}
			u.n = utf8.EncodeRune(u.bytes[:], r)
			return u
		}
	}
	return unit{[utf8.UTFMax]byte{s[i]}, 1, 1}
}

// escapedRune reads an escape of JSON; the size is 0 if it is none.
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
	var r rune
	for _, c := range []byte(digits) {
		i := strings.IndexByte("0123456789abcdef", c|0x20)
		if i < 0 || c < '0' {
			return 0, false
		}
		r = r<<4 | rune(i)
	}
	return r, true
}
