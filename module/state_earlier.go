package module

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/signature/schema"
)

// A schema that is generated says more than it once did: the range of small kinds of
// numbers, and the unit of a time.Duration as its format. States that were saved before
// are of the same fields.

// unsaid are the bounds of kinds that were not said. That a number is not negative was.
var unsaid = map[string][]json.Number{
	"minimum": {"-128", "-32768", "-2147483648", "-340282346638528859811704183484516925440"},
	"maximum": {"127", "32767", "2147483647", "255", "65535", "4294967295", "340282346638528859811704183484516925440"},
}

// earlierUnit is how the unit of a time.Duration was said that had no description.
const earlierUnit = "Nanoseconds; a second has 1000000000."

// earlier makes of a schema what it was, in place. It reports whether it is that of a
// time.Duration, or has it as an alternative to null.
func earlier(v any) (duration bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			duration = earlier(item) || duration
		}
	case map[string]any:
		for name, inner := range v {
			alternatives, _ := inner.([]any)
			if earlier(inner) && name == "anyOf" && alternatives != nil {
				duration = true
				undescribe(alternatives)
			}
		}
		if v["format"] == schema.Nanoseconds {
			duration = true
			delete(v, "format")
		}
		if duration {
			v["description"] = cmp.Or(v["description"], any(earlierUnit))
		}
		withoutBounds(v)
	}
	return duration
}

// undescribe leaves it to the whole to say what its alternatives are.
func undescribe(alternatives []any) {
	for _, choice := range alternatives {
		if choice, ok := choice.(map[string]any); ok {
			delete(choice, "description")
		}
	}
}

func withoutBounds(v map[string]any) {
	for name, bounds := range unsaid {
		if bound, ok := v[name].(json.Number); ok && slices.Contains(bounds, bound) {
			delete(v, name)
		}
	}
}

// asSaved are the fields as a state has them that was saved earlier. One that does not
// say what each was has all as they were.
func (s savedFields) asSaved(saved map[string]string) savedFields {
	all := make(savedFields, len(s))
	for i, f := range s {
		if all[i] = f; saved == nil || saved[f.name] == hashOf(f.earlier) {
			all[i].shape = f.earlier
		}
	}
	return all
}
