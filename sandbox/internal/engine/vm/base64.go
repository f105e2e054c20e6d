package vm

import (
	"encoding/base64"
	"strings"

	"github.com/dop251/goja"
)

// btoa encodes a string as base64. Each character of the string stands for a byte.
func (r *machine) btoa(c goja.FunctionCall) goja.Value {
	text := r.byteText("btoa", c)
	if float64(base64.StdEncoding.EncodedLen(text.Length())) > r.maxText() {
		panic(r.rangeError("Invalid string length"))
	}
	bytes := make([]byte, text.Length())
	for i := range bytes {
		char := text.CharAt(i)
		if char > 0xff {
			panic(r.invalidCharacter("btoa: a character is above U+00FF; " +
				"write btoa(unescape(encodeURIComponent(text)))"))
		}
		bytes[i] = byte(char)
	}
	return r.vm.ToValue(base64.StdEncoding.EncodeToString(bytes))
}

// atob decodes base64 to a string. Each character of the string stands for a byte.
func (r *machine) atob(c goja.FunctionCall) goja.Value {
	text := strings.NewReplacer("\t", "", "\n", "", "\f", "", "\r", "", " ", "").Replace(r.byteText("atob", c).String())
	if len(text)%4 == 0 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
	}
	bytes, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		panic(r.invalidCharacter("atob: the text is not base64; for base64url, replace - with + and _ with / first"))
	}
	chars := make([]rune, len(bytes))
	for i, b := range bytes {
		chars[i] = rune(b)
	}
	return r.vm.ToValue(string(chars))
}

// byteText returns a function's first argument as a string. It throws if the argument is missing.
func (r *machine) byteText(function string, c goja.FunctionCall) goja.String {
	if len(c.Arguments) == 0 {
		panic(r.typeError(function + ": the argument is missing"))
	}
	return r.textOf(c.Argument(0))
}

// textOf converts a value to a string, as JavaScript does.
func (r *machine) textOf(v goja.Value) goja.String {
	switch v := v.(type) {
	case goja.String:
		return v
	case *goja.Symbol:
		panic(r.typeError("Cannot convert a Symbol value to a string"))
	}
	return r.vm.ToValue(v.String()).(goja.String)
}

func (r *machine) invalidCharacter(message string) *goja.Object {
	e := r.error("Error", message)
	name := r.vm.ToValue("InvalidCharacterError")
	_ = e.DefineDataProperty("name", name, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return e
}
