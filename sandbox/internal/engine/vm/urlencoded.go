package vm

import (
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

func (r *run) urlSearchParams() goja.Value {
	helpers := []func(goja.FunctionCall) goja.Value{
		r.textFunction(urlDecoded), r.textFunction(urlEncoded), r.textFunction(wellFormed),
	}
	return r.addition("URLSearchParams", helpers...)
}

// textFunction makes a function for the program of one that turns a text into
// another.
func (r *run) textFunction(change func(string) string) func(goja.FunctionCall) goja.Value {
	return func(c goja.FunctionCall) goja.Value {
		text := r.textOf(c.Argument(0)).String()
		if 3*float64(len(text)) > r.mostText() {
			panic(r.rangeError("Invalid string length"))
		}
		return r.vm.ToValue(change(text))
	}
}

// wellFormed returns its text: whatever half of a surrogate pair was in it has become
// U+FFFD.
func wellFormed(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

const upperHex = "0123456789ABCDEF"

// urlEncoded writes a name or a value as application/x-www-form-urlencoded.
func urlEncoded(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c == ' ':
			b.WriteByte('+')
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("*-._", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String()
}

// urlDecoded reads a name or a value; what is not valid UTF-8 becomes U+FFFD.
func urlDecoded(text string) string {
	bytes := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '+' {
			c = ' '
		} else if c == '%' && i+2 < len(text) {
			high, low := fromHex(text[i+1]), fromHex(text[i+2])
			if high >= 0 && low >= 0 {
				c, i = byte(high<<4|low), i+2
			}
		}
		bytes = append(bytes, c)
	}
	return decodeUTF8(bytes)
}

func fromHex(c byte) int {
	if 'a' <= c && c <= 'f' {
		c -= 'a' - 'A'
	}
	return strings.IndexByte(upperHex, c)
}

// decodeUTF8 puts one U+FFFD in the place of each beginning of a character that does
// not go on, as the Web does.
func decodeUTF8(bytes []byte) string {
	if utf8.Valid(bytes) {
		return string(bytes)
	}
	var b strings.Builder
	for len(bytes) > 0 {
		char, size := utf8.DecodeRune(bytes)
		if char == utf8.RuneError && size == 1 {
			for n := min(len(bytes), utf8.UTFMax-1); n > 1; n-- {
				if !utf8.FullRune(bytes[:n]) {
					size = n
					break
				}
			}
		}
		b.WriteRune(char)
		bytes = bytes[size:]
	}
	return b.String()
}
