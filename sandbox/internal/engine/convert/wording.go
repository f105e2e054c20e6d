package convert

import "regexp"

var re = regexp.MustCompile

// wordings maps goja's messages to messages that models know from other engines.
var wordings = []struct {
	goja *regexp.Regexp
	v8   string
}{
	{re(`^Object has no member '(.*)'$`), "$1 is not a function"},
	{re(`^Cannot read property '(.*)' of undefined( or null)?$`), // goja does not distinguish undefined and null
		"Cannot read properties of undefined or null (reading '$1')"},
	{re(`^object is not iterable$`), "object is not iterable: an array is needed"},
	{re(`^Cannot convert undefined or null to object$`),
		"undefined or null has no properties and cannot be iterated"},
	{re(`^Value is not (?:an object|callable): undefined$`), "undefined is not a function"},
	{re(`^Value is not (?:an object|callable): (.*)$`), "$1 is not a function or an object"},
	{re(`^Dynamic object is not callable$`), "a namespace of tools is not a function"},
	{re(`^Value is not object coercible$`), "Cannot destructure undefined or null"},
	{re(`^'Set' on a dynamic object returned false$`), "Cannot assign to a tool: tools are constants"},
	{re(`^Could not convert (?s:.*) to primitive$`), "Cannot convert object to primitive value"},
	{re(`^Value is not a number: %!(?s:.*)$`), "Value is not a number"},
	{re(`^No initial value$`), "Reduce of empty array with no initial value"},
	{re(`^radix must be an integer between`), "toString() radix argument must be between"},
	{re(`^RegExp doesn't have global flag set$`), "String.prototype.matchAll called with a non-global RegExp argument"},
	{re(`^invalid flags supplied to RegExp constructor '(.*)'`),
		"Invalid flags supplied to RegExp constructor '$1': this engine knows g, i, m, s, u, y"},
	{re(`^(invalid character .*|unexpected EOF|Unexpected token at the end: .*|Unexpected end of JSON input \(.*)$`),
		"the text is not valid JSON"},
	{re(`^toFixed\(\) precision must`), "toFixed() digits argument must"},
}

// wordMessage replaces a goja message with the message that other engines use.
func wordMessage(message string) string {
	for _, w := range wordings {
		if w.goja.MatchString(message) {
			return w.goja.ReplaceAllString(message, w.v8)
		}
	}
	return message
}

// WordError formats an error with the message that other engines use.
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
