// Package formats lists the formats of strings that schemas check.
package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/similar"
)

// checked are the formats of JSON Schema, except idn-email and idn-hostname, plus period and semver.
var checked = strings.Fields(`
	date time date-time duration period email hostname ipv4 ipv6 uri uri-reference
	uri-template iri iri-reference uuid json-pointer relative-json-pointer regex semver`)

// Check returns an error if schemas do not check the format with the given name.
func Check(name string) error {
	if slices.Contains(checked, name) {
		return nil
	}
	if near := similar.Nearest(name, checked); near != "" {
		return fmt.Errorf("unknown format %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("unknown format %q; the formats are %s", name, strings.Join(checked, ", "))
}
