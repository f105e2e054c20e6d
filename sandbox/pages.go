package sandbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// maxInspected is the maximum size in bytes of results whose members are inspected.
const maxInspected = 256 << 10

// members returns the members of an object, or nil for other values and long ones.
func members(value json.RawMessage) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if len(value) > maxInspected || json.Unmarshal(value, &object) != nil {
		return nil
	}
	return object
}

// nextPage matches members that refer to the next page, such as next_cursor, nextPageToken
// or next, with a value.
var nextPage = regexp.MustCompile(`"(next|next_?[a-zA-Z_]{1,40})"\s*:\s*(?:"[^"]|[1-9])`)

// morePages returns warnings about results that refer to a next page, if the program does
// not contain the name of that member.
func (h *host) morePages(calls []Call) (list []Finding) {
	var warned []string
	left := 4 * maxInspected
	for _, c := range calls {
		if left -= len(c.Result); left < 0 {
			break
		}
		if c.Error != nil || slices.Contains(warned, c.Tool) || len(list) == maxFindings {
			continue
		}
		member := nextMember(c.Result)
		if member == "" || regexp.MustCompile(`\b`+member+`\b`).MatchString(h.program.Source) {
			continue
		}
		warned = append(warned, c.Tool)
		list = append(list, h.finding(KindMorePages,
			fmt.Sprintf("%s returned %s, so there are more pages, but the program does not read it", c.Tool, member),
			fmt.Sprintf("call again with %s until the result has none", member), engine.Pos{Line: c.Line, Column: c.Column}))
	}
	return list
}

// nextMember returns the name of the member of an object that refers to the next page, or
// "".
func nextMember(result json.RawMessage) string {
	found := nextPage.FindAllSubmatch(result, 8)
	if len(result) > maxInspected || found == nil {
		return ""
	}
	object := members(result)
	for _, match := range found {
		if name := string(match[1]); object[name] != nil {
			return name
		}
	}
	return ""
}
