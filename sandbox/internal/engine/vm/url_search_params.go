package vm

import (
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/text/encoding/unicode"
)

func (r *machine) urlSearchParams() goja.Value {
	helpers := []func(goja.FunctionCall) goja.Value{
		r.textFunction(urlDecoded), r.textFunction(urlEncoded), r.textFunction(wellFormed),
	}
	return r.polyfill("URLSearchParams", helpers...)
}

// textFunction makes a VM function from a Go function that converts a string.
func (r *machine) textFunction(change func(string) string) func(goja.FunctionCall) goja.Value {
	return func(c goja.FunctionCall) goja.Value {
		text := r.textOf(c.Argument(0)).String()
		if 3*float64(len(text)) > r.maxText() {
			panic(r.rangeError("Invalid string length"))
		}
		return r.vm.ToValue(change(text))
	}
}

// wellFormed replaces unpaired surrogates with U+FFFD.
func wellFormed(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// urlEncoded writes a name or a value as application/x-www-form-urlencoded. It differs
// from package url in two characters.
func urlEncoded(text string) string {
	return strings.NewReplacer("%2A", "*", "~", "%7E").Replace(url.QueryEscape(text))
}

var percentEncoded = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// urlDecoded reads a name or a value. Bytes that are not valid UTF-8 become U+FFFD.
func urlDecoded(text string) string {
	text = percentEncoded.ReplaceAllStringFunc(strings.ReplaceAll(text, "+", " "), func(escape string) string {
		b, _ := hex.DecodeString(escape[1:])
		return string(b)
	})
	text, _ = unicode.UTF8.NewDecoder().String(text) // does not fail
	return text
}
