package signature

import (
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/writ-go/writ/signature/schema"
)

// checkStrings returns a finding if an output contains a string that is not valid Unicode, which a Go string cannot
// represent exactly.
func (s *Spec) checkStrings(output json.RawMessage) []schema.Finding {
	const hint = "write the character itself"
	message := invalidString(output)
	if message == "" {
		return nil
	}
	values, _ := split(output) // the caller has checked that it is an object
	var findings []schema.Finding
	for _, v := range values {
		if message := invalidString(v.JSON); message != "" {
			findings = append(findings, schema.Finding{Path: v.Name, Message: message, Hint: hint})
		}
	}
	if findings == nil { // the string is a name
		findings = []schema.Finding{{Message: message, Hint: hint}}
	}
	return findings
}

// escapes matches the escapes in a JSON string. A six-byte match is always an unpaired surrogate.
var escapes = regexp.MustCompile(`\\(u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)

// invalidString describes the first invalid character in valid JSON, or returns "".
func invalidString(raw json.RawMessage) string {
	if !utf8.Valid(raw) {
		return "contains bytes that are not UTF-8"
	}
	for _, escape := range escapes.FindAll(raw, -1) {
		if len(escape) == len(`\ud83d`) {
			return fmt.Sprintf("contains an unpaired surrogate escape, %s", escape)
		}
	}
	return ""
}
