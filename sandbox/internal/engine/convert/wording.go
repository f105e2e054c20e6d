package convert

import "regexp"

// wordings are goja's messages that other engines word differently, wherever they occur.
var wordings = []struct {
	goja *regexp.Regexp
	v8   string
}{
	{regexp.MustCompile(`^Object has no member '(.*)'$`), "$1 is not a function"},
	{regexp.MustCompile(`^Cannot read property '(.*)' of undefined( or null)?$`), "Cannot read properties of undefined or null (reading '$1')"}, // goja does not distinguish them
	{regexp.MustCompile(`^Value is not (?:an object|callable): (.*)$`), "$1 is not a function or an object"},
	{regexp.MustCompile(`^Dynamic object is not callable$`), "a tools' object is not a function"},
	{regexp.MustCompile(`^Value is not object coercible$`), "Cannot destructure undefined or null"},
	{regexp.MustCompile(`^'Set' on a dynamic object returned false$`), "Cannot assign to a tool: tools are constants"},
	{regexp.MustCompile(`^Could not convert (?s:.*) to primitive$`), "Cannot convert object to primitive value"},
	{regexp.MustCompile(`^Value is not a number: %!(?s:.*)$`), "Value is not a number"},
	{regexp.MustCompile(`^No initial value$`), "Reduce of empty array with no initial value"},
	{regexp.MustCompile(`^radix must be an integer between`), "toString() radix argument must be between"},
	{regexp.MustCompile(`^RegExp doesn't have global flag set$`), "String.prototype.matchAll called with a non-global RegExp argument"},
	{regexp.MustCompile(`^invalid flags supplied to RegExp constructor '(.*)'`), "Invalid flags supplied to RegExp constructor '$1': this engine knows g, i, m, s, u, y"},
	{regexp.MustCompile(`^(invalid character .*|unexpected EOF|Unexpected token at the end: .*|Unexpected end of JSON input \(.*)$`), "the text is not valid JSON"},
	{regexp.MustCompile(`^toFixed\(\) precision must`), "toFixed() digits argument must"},
}

// wordMessage returns a message in the words of other engines.
func wordMessage(message string) string {
	for _, w := range wordings {
		if w.goja.MatchString(message) {
			return w.goja.ReplaceAllString(message, w.v8)
		}
	}
	return message
}

// WordError formats an error in these words.
func WordError(name, message string) string {
	message = wordMessage(message)
	switch {
	case name == "":
		return message
	case message == "":
		return name
	}
	return name + ": " + message
}
