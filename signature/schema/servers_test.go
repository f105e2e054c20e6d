package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

// TestServerSchemas compiles the schemas of real servers, and fills them with values of up to a
// megabyte. All of them are checked within the limits of validation; whether they fit in every
// detail does not matter.
func TestServerSchemas(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../tools/declare/testdata/servers/*.json")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	every := 12 // a sample
	if os.Getenv("WRIT_TEST_FULL") == "1" {
		every = 1
	}
	largest := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var listing struct {
			Tools []struct {
				Name                      string
				InputSchema, OutputSchema json.RawMessage
			}
		}
		if err := json.Unmarshal(raw, &listing); err != nil {
			t.Fatal(err)
		}
		for i, tool := range listing.Tools {
			s := compile(t, string(tool.InputSchema))
			if tool.OutputSchema != nil {
				compile(t, string(tool.OutputSchema))
			}
			if i%every > 0 {
				continue
			}
			var root map[string]any
			if err := json.Unmarshal(tool.InputSchema, &root); err != nil {
				t.Fatal(err)
			}
			value, err := json.Marshal(sample(root, root, 4))
			if err != nil {
				t.Fatal(err)
			}
			largest = max(largest, len(value))
			if found := schema.Summary(s.Validate(value)); strings.Contains(found, "be checked") {
				t.Errorf("%s, %d bytes: %s", tool.Name, len(value), found)
			}
		}
	}
	if largest < 100_000 {
		t.Errorf("the largest value has only %d bytes", largest)
	}
}

// sample returns a large value of roughly the form of a schema.
func sample(root, s map[string]any, room int) any {
	for _, name := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[name].([]any); ok && len(list) > 0 {
			first, _ := list[0].(map[string]any)
			return sample(root, first, room)
		}
	}
	if ref, ok := s["$ref"].(string); ok && room > 0 {
		at := any(root)
		for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			object, _ := at.(map[string]any)
			at = object[step]
		}
		target, _ := at.(map[string]any)
		return sample(root, target, room-1)
	}
	if values, ok := s["enum"].([]any); ok && len(values) > 0 {
		return values[len(values)-1]
	}
	switch s["type"] {
	case "array":
		items, _ := s["items"].(map[string]any)
		var list []any
		for range []int{0, 2, 2, 20, 200}[room] {
			list = append(list, sample(root, items, room-1))
		}
		return list
	case "object":
		object := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			property, _ := p.(map[string]any)
			object[name] = sample(root, property, room)
		}
		if len(properties) == 0 {
			for i := range 20 {
				object[fmt.Sprint("name", i)] = []string{"a value", "another"}
			}
		}
		return object
	case "string":
		return strings.Repeat("some text ", 10)
	default:
		return 1
	}
}
