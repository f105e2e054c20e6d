package sandbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// nextPage finds members that lead to the next page, such as next_cursor, nextPageToken or
// next, with a value.
var nextPage = regexp.MustCompile(`"(next|next_?[a-zA-Z_]{1,40})"\s*:\s*(?:"[^"]|[1-9])`)

// firstPages is a warning about results that say how to get the next page, in a program
// that never reads that.
func (h *host) firstPages(calls []Call) (list []Finding) {
	var warned []string
	left := 4 * maxMembers
	for _, c := range calls {
		if left -= len(c.Result); left < 0 {
			return list
		}
		if c.Error != nil || slices.Contains(warned, c.Tool) || len(list) == maxFindings {
			continue
		}
		member := nextOf(c.Result)
		if member == "" || hasWord(h.program.Source, member) {
			continue
		}
		warned = append(warned, c.Tool)
		list = append(list, h.finding(KindMorePages,
			fmt.Sprintf("%s returned %s, so there are more pages, and the program does not read it", c.Tool, member),
			fmt.Sprintf("call again with %s until there is none", member), engine.Pos{Line: c.Line, Column: c.Column}))
	}
	return list
}

// nextOf returns the name of the member of an object that leads to the next page, or "".
func nextOf(result json.RawMessage) string {
	if len(result) > maxMembers || !nextPage.Match(result) {
		return ""
	}
	object := membersOf(result)
	for _, found := range nextPage.FindAllSubmatch(result, 8) {
		if name := string(found[1]); object[name] != nil {
			return name
		}
	}
	return ""
}

// hasWord reports whether a name is in a text.
func hasWord(text, name string) bool {
	found, err := regexp.MatchString(`\b`+name+`\b`, text)
	return err == nil && found
}
