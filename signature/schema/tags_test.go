package schema_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/writ-go/writ/signature/internal/formats"
	"github.com/writ-go/writ/signature/schema"
)

type (
	tagMood  string
	zip      string
	switched bool
	named    struct{ A string }
)

// Enum lists the values.
func (tagMood) Enum() []tagMood { return []tagMood{"good", "bad"} }

// JSONSchema implements the interface of invopop/jsonschema.
func (zip) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: "zip"} // the author may choose any
}

// ofTagged returns the schema of a struct with one field, called f.
func ofTagged(of reflect.Type, tag string) (*schema.Schema, error) {
	return schema.Of(reflect.StructOf([]reflect.StructField{
		{Name: "F", Type: of, Tag: reflect.StructTag(fmt.Sprintf(`json:"f" jsonschema:%q`, tag))},
	}))
}

// tagTypes are the types in testdata/tags.txt.
var tagTypes = func() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, v := range []any{
		new(**int), new(*int), new(*string), new([2]bool), new([]*time.Time), new([][]int), new([]int), new([]named),
		new([]tagMood), new([]string), new([]byte), new(big.Int), new(bool), new(float64), new(int), new(int8), new(any),
		new(json.Number), new(json.RawMessage), new(map[string]int), new(netip.Addr), new(switched), new(named), new(tagMood),
		new(zip), new(string), new(time.Duration), new(time.Time),
	} {
		t := reflect.TypeOf(v).Elem()
		all[t.String()] = t
	}
	return all
}()

// TestTags checks the schema of, or the error about, each type with each tag in
// testdata/tags.txt.
func TestTags(t *testing.T) {
	t.Parallel()
	const file = "testdata/tags.txt"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(raw)) {
		name, tag, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if line[0] == '\t' || !ok {
			continue
		}
		of := tagTypes[name]
		if of == nil {
			t.Fatalf("unknown type %s", name)
		}
		s, err := ofTagged(of, tag)
		var whole struct{ Properties struct{ F json.RawMessage } }
		if err == nil {
			err = json.Unmarshal(s.Raw(), &whole)
		}
		result := string(whole.Properties.F)
		if err != nil {
			result = "error: " + strings.TrimPrefix(err.Error(), `field "f": jsonschema tag: `)
		}
		fmt.Fprintf(&got, "%s | %s\n\t%s\n", name, tag, result)
	}
	checkGolden(t, file, got.String())
}

func TestFieldErrors(t *testing.T) {
	t.Parallel()
	type inner struct {
		N string `json:"n" jsonschema:"minimum=1"`
	}
	for _, test := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[struct {
			Deep []*inner `json:"deep"`
		}](), `field "deep.n": jsonschema tag: the rule minimum does not apply to string; ` +
			`use one of minLength, maxLength, pattern, format, enum, default, example, ` +
			`title, description, required, nullable`},
		{reflect.TypeFor[struct {
			N int `json:",string" jsonschema:"minimum=1"`
		}](), `field "N": jsonschema tag: the rule minimum does not apply to int; ` +
			`use one of minLength, maxLength, pattern, format, enum, default, example, ` +
			`title, description, required, nullable`},
	} {
		_, err := schema.Of(test.of)
		checkError(t, err, test.want)
	}
}

// Every known format is checked.
func TestFormatsAreChecked(t *testing.T) {
	t.Parallel()
	wrong := map[string]string{"iri-reference": "::", "uri-reference": "::", "uri-template": "{", "json-pointer": "x",
		"regex": "("}
	err := formats.Check("zzzzzzzz")
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range knownFormats(err) {
		bad := wrong[name]
		if bad == "" {
			bad = "?"
		}
		s, err := compile(t, `{"type":"string","format":"`+name+`"}`).WithFormats()
		if err != nil || s.Validate([]byte(quoted(bad))) == nil {
			t.Errorf("%s admits %s (%v)", name, bad, err)
		}
		if err := formats.Check(name); err != nil {
			t.Error(err)
		}
	}
}

// knownFormats reads the list at the end of an error.
func knownFormats(err error) []string {
	_, list, _ := strings.Cut(err.Error(), "the formats are ")
	return strings.Split(list, ", ")
}
