package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Nanoseconds is the format of an integer that is a [time.Duration]. Declarations say it,
// also of lists, maps and results, and those who read what models write know by it what
// "30s" is. Nothing checks it.
const Nanoseconds = "nanoseconds"

// formats are those that are checked.
var formats = strings.Fields(`
	date time date-time duration period email hostname ipv4 ipv6 uri uri-reference
	uri-template iri iri-reference uuid json-pointer relative-json-pointer regex semver`)

// CheckFormat returns an error if nothing would check a format, be it misspelt or
// known to others only. The formats that are checked are those of JSON Schema for
// texts but for idn-email and idn-hostname, and period and semver. [Of] has no
// other in a tag; [Compile] takes any, since schemas from elsewhere have them.
func CheckFormat(name string) error {
	if slices.Contains(formats, name) {
		return nil
	}
	if near := Nearest(name, formats); near != "" {
		return fmt.Errorf("the format %q is not known; did you mean %s?", name, near)
	}
	return fmt.Errorf("the format %q is not known; the formats are %s", name, strings.Join(formats, ", "))
}
