package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// checkTags refuses what the library that reads the tags would pass over: a
// constraint that one believes in would not be there.
func checkTags(fields []field, path string) error {
	for i, f := range fields {
		for _, g := range fields[:i] {
			if f.json == g.json && f.depth == 0 && g.depth == 0 {
				return typeError(join(path, f.Name), f.Type, fmt.Sprintf("has the name %q in JSON, and so has the field %s; rename one", f.json, g.Name))
			}
		}
		if f.json == "-" {
			return typeError(join(path, f.Name), f.Type, `is called "-" in JSON, for its tag is json:"-,"; write json:"-" to leave the field out, or give it another name`)
		}
		if reason := badTag(f.Tag.Get("jsonschema")); reason != "" {
			return typeError(join(path, f.Name), f.Type, reason)
		}
	}
	return nil
}

// Keywords of jsonschema tags.
var (
	tagWords   = strings.Fields("title description type anchor oneof_required anyof_required oneof_ref oneof_type anyof_ref anyof_type pattern format default example enum")
	tagNumbers = strings.Fields("minLength maxLength multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems")
	tagFlags   = strings.Fields("required nullable uniqueItems readOnly writeOnly -")
)

// badTag says what is wrong with a jsonschema tag, or nothing.
func badTag(tag string) string {
	for _, part := range tagParts(tag) {
		key, value, assigned := strings.Cut(part, "=")
		number := slices.Contains(tagNumbers, key)
		if _, err := strconv.ParseFloat(value, 64); number && err != nil {
			return fmt.Sprintf("has a jsonschema tag whose %s is no number: %q", key, value)
		}
		switch {
		case number, assigned && slices.Contains(tagWords, key), slices.Contains(tagFlags, key):
		case !assigned:
			return fmt.Sprintf(`has a jsonschema tag with %q, which is no keyword; a comma in a text is written \\, or the text goes into jsonschema_description`, part)
		default:
			return fmt.Sprintf("has a jsonschema tag with the unknown keyword %q", key)
		}
	}
	return ""
}

// tagParts splits a tag at its commas, but for escaped ones.
func tagParts(tag string) []string {
	const escaped = "\x00"
	parts := strings.Split(strings.ReplaceAll(tag, `\,`, escaped), ",")
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}
