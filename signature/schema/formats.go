package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/similar"
)

// Nanoseconds is the format of an integer that is a [time.Duration]. Declarations show it
// as the unit, and code that reads model replies uses it to accept "30s". It is not
// checked.
const Nanoseconds = "nanoseconds"

// formats are the formats that are checked.
var formats = strings.Fields(`
	date time date-time duration period email hostname ipv4 ipv6 uri uri-reference
	uri-template iri iri-reference uuid json-pointer relative-json-pointer regex semver`)

// CheckFormat returns an error if a format is not checked, because it is misspelled or
// unknown. The checked formats are those of JSON Schema, except idn-email and idn-hostname,
// plus period and semver. [Of] accepts only these formats in a tag; [Compile] accepts any
// format, since schemas from other sources have them.
func CheckFormat(name string) error {
	if slices.Contains(formats, name) {
		return nil
	}
	if near := similar.Nearest(name, formats); near != "" {
		return fmt.Errorf("unknown format %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("unknown format %q; the formats are %s", name, strings.Join(formats, ", "))
}
