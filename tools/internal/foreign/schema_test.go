package foreign_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools/internal/foreign"
)

var update = flag.Bool("update", false, "rewrite testdata/repair.txtar")

// TestRepair checks schemas as servers publish them. Each has a description of what is dropped, a
// value that the repaired schema admits, and one that it refuses, with the findings.
func TestRepair(t *testing.T) {
	t.Parallel()
	const file = "testdata/repair.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got txtar.Archive
	var s *schema.Schema
	add := func(name, text string) {
		if text != "" {
			got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(text + "\n")})
		}
	}
	for _, f := range archive.Files {
		test, part, _ := strings.Cut(f.Name, "/")
		text := strings.TrimSuffix(string(f.Data), "\n")
		switch part {
		case "schema":
			repaired := foreign.Repair([]byte(text))
			if s, err = repaired.Compile(); err != nil {
				t.Fatalf("%s: %v", test, err)
			}
			add(f.Name, text)
			add(test+"/dropped", strings.Join(repaired.Dropped(), "\n"))
		case "valid":
			add(f.Name, text)
			if findings := s.Validate([]byte(text)); findings != nil {
				t.Errorf("%s: %s is refused: %v", test, text, findings)
			}
		case "invalid":
			add(f.Name, text)
			findings := s.Validate([]byte(text))
			if findings == nil {
				t.Errorf("%s: %s is admitted", test, text)
			}
			var lines []string
			for _, f := range findings {
				lines = append(lines, f.String())
			}
			add(test+"/findings", strings.Join(lines, "\n"))
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(&got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if g, w := string(txtar.Format(&got)), string(txtar.Format(archive)); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// TestRepairKeepsOrder checks that properties keep their order, also under
// keywords that were translated. Maps iterate in random order, so it repeats.
func TestRepairKeepsOrder(t *testing.T) {
	t.Parallel()
	for range 30 { // the oneOf is dropped, since there is an anyOf already
		s, err := foreign.Repair([]byte(`{"items": [{"type": "string"}],
			"anyOf": [{"type": "object", "properties": {"b": {}, "a": {}}}],
			"oneOf": [{"type": "object", "properties": {"a": {}, "b": {}, "n": {"type": "int"}}}]}`)).Compile()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.TypeScript(nil), `[string] & {b?: unknown; a?: unknown}`; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// FuzzRepair checks that every repaired schema compiles, and that it admits what
// the original admits, if that compiles.
func FuzzRepair(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/repair.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		if strings.HasSuffix(file.Name, "/schema") {
			f.Add(file.Data, []byte(`{"a": 1, "b": ["x", null]}`))
		}
	}
	f.Fuzz(func(t *testing.T, raw, value []byte) {
		repaired := foreign.Repair(raw)
		s, err := repaired.Compile()
		switch {
		case repaired.Err() != nil && err == nil:
			t.Error("Compile returned no error, but Err does")
		case repaired.Err() == nil && err != nil && !strings.Contains(err.Error(), "combines too many schemas for one value"):
			t.Fatalf("%s: %v\ndropped %q", raw, err, repaired.Dropped())
		}
		if s == nil {
			return
		}
		s.TypeScript(nil)
		strict, err := schema.Compile(raw)
		if err != nil || otherwise.Match(raw) || len(strict.Validate(value)) > 0 {
			return
		}
		if findings := s.Validate(value); findings != nil {
			t.Errorf("%s admits %s, but the repaired schema does not: %q", raw, value, findings)
		}
	})
}

// otherwise matches keywords that Compile interprets differently.
var otherwise = regexp.MustCompile(
	`\\u|"(\$schema|\$vocabulary|\$id|\$anchor|\$dynamic.*|\$recursive.*|dependencies|definitions)"`)

// TestServerSchemas fills the schemas of real servers with values of up to a
// megabyte. All of them are checked within the limits of validation; whether
// they fit in every detail does not matter.
func TestServerSchemas(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../declare/testdata/servers/*.json")
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
				Name        string
				InputSchema json.RawMessage
			}
		}
		if err := json.Unmarshal(raw, &listing); err != nil {
			t.Fatal(err)
		}
		for i, tool := range listing.Tools {
			s, err := foreign.Repair(tool.InputSchema).Compile()
			if err != nil {
				t.Fatal(tool.Name, err)
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
