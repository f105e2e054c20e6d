package schema_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/writ-go/writ/signature/schema"
)

type (
	tagMood string
	zip     string
	flag    bool
	named   struct{ A string }
)

// Enum lists the values.
func (tagMood) Enum() []tagMood { return []tagMood{"good", "bad"} }

// JSONSchema implements the interface of invopop/jsonschema.
func (zip) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: "zip"} // whatever its author calls it
}

// ofTagged returns the schema of a struct with one field, called f.
func ofTagged(of reflect.Type, tag string) (*schema.Schema, error) {
	return schema.Of(reflect.StructOf([]reflect.StructField{
		{Name: "F", Type: of, Tag: reflect.StructTag(fmt.Sprintf(`json:"f" jsonschema:%q`, tag))},
	}))
}

func TestTags(t *testing.T) {
	t.Parallel()
	var (
		text, whole, float, truth = reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[float64](), reflect.TypeFor[bool]()
		texts, wholes, moods      = reflect.TypeFor[[]string](), reflect.TypeFor[[]int](), reflect.TypeFor[[]tagMood]()
		mood, moment, either      = reflect.TypeFor[tagMood](), reflect.TypeFor[time.Time](), reflect.TypeFor[any]()
	)
	for _, test := range []struct {
		of   reflect.Type
		tag  string
		want string // the schema
	}{
		{text, `minLength=1,maxLength=3,pattern=^a=b,format=email`, `{"type":"string","maxLength":3,"minLength":1,"pattern":"^a=b","format":"email"}`},
		{text, `enum=a,enum=b\,c,default=a,example=b\,c,title=T,description=D,required`, `{"type":"string","enum":["a","b,c"],"title":"T","description":"D","default":"a","examples":["b,c"]}`},
		{text, `default=,readOnly=true,writeOnly=false`, `{"type":"string","default":"","readOnly":true}`},
		{reflect.TypeFor[*string](), `minLength=1`, `{"anyOf":[{"type":"string","minLength":1},{"type":"null"}]}`},
		{reflect.TypeFor[netip.Addr](), `format=ipv4`, `{"type":"string","format":"ipv4"}`},
		{reflect.TypeFor[[]byte](), `minLength=4`, `{"type":"string","minLength":4,"contentEncoding":"base64"}`},
		{reflect.TypeFor[zip](), `minLength=5`, `{"type":"string","minLength":5,"format":"zip"}`},
		{moment, `format=date-time,description=D`, `{"type":"string","format":"date-time","description":"D"}`},
		{reflect.TypeFor[[]*time.Time](), `format=date-time`, `{"items":{"type":"string","format":"date-time"},"type":"array"}`},
		{moment, `pattern=Z$`, `{"type":"string","pattern":"Z$","format":"date-time"}`},
		{whole, `minimum=-1,maximum=2.5e3,multipleOf=2,enum=2,enum=4,default=2,example=4`, `{"type":"integer","enum":[2,4],"multipleOf":2,"maximum":2.5e3,"minimum":-1,"default":2,"examples":[4]}`},
		{reflect.TypeFor[time.Duration](), `minimum=1,description=How long.`, `{"type":"integer","minimum":1,"format":"nanoseconds","description":"How long."}`},
		{reflect.TypeFor[big.Int](), `exclusiveMinimum=0`, `{"type":"integer","exclusiveMinimum":0}`},
		{reflect.TypeFor[json.Number](), `exclusiveMaximum=1`, `{"type":"number","exclusiveMaximum":1}`},
		{float, `type=integer,minimum=0`, `{"type":"integer","minimum":0}`},
		{truth, `default=true,nullable`, `{"oneOf":[{"type":"boolean","default":true},{"type":"null"}]}`},
		{texts, `minItems=1,maxItems=2,uniqueItems=true,minLength=1,pattern=^a,enum=a,enum=ab,default=a,default=ab`,
			`{"items":{"type":"string","enum":["a","ab"],"minLength":1,"pattern":"^a"},"type":"array","maxItems":2,"minItems":1,"uniqueItems":true,"default":["a","ab"]}`},
		{wholes, `minItems=1,minimum=0,enum=1,enum=2`, `{"items":{"type":"integer","enum":[1,2],"minimum":0},"type":"array","minItems":1}`},
		{mood, `enum=good`, `{"type":"string","enum":["good"]}`},
		{moods, `enum=good`, `{"items":{"type":"string","enum":["good"]},"type":"array"}`},
		{moods, `minItems=1`, `{"items":{"type":"string","enum":["good","bad"]},"type":"array","minItems":1}`},
		{reflect.TypeFor[[][]int](), `minItems=1`, `{"items":{"items":{"type":"integer"},"type":"array"},"type":"array","minItems":1}`},
		{reflect.TypeFor[map[string]int](), `title=T,description=D`, `{"additionalProperties":{"type":"integer"},"type":"object","title":"T","description":"D"}`},
		{either, `type=string,minLength=1`, `{"type":"string","minLength":1}`},
		{either, `oneof_type=string;number,description=D`, `{"oneOf":[{"type":"string"},{"type":"number"}],"description":"D"}`},
	} {
		s, err := ofTagged(test.of, test.tag)
		if err != nil {
			t.Errorf("%v with %s: %v", test.of, test.tag, err)
			continue
		}
		var whole struct{ Properties struct{ F json.RawMessage } }
		if err := json.Unmarshal(s.Raw(), &whole); err != nil || string(whole.Properties.F) != test.want {
			t.Errorf("%v with %s\ngot  %s\nwant %s", test.of, test.tag, whole.Properties.F, test.want)
		}
	}
}

// What the library that reads the tags passes over is an error.
func TestTagErrors(t *testing.T) {
	t.Parallel()
	var (
		text, whole, truth   = reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[bool]()
		texts, wholes, dict  = reflect.TypeFor[[]string](), reflect.TypeFor[[]int](), reflect.TypeFor[map[string]int]()
		mood, moment, either = reflect.TypeFor[tagMood](), reflect.TypeFor[time.Time](), reflect.TypeFor[any]()
	)
	const (
		ofText  = `; its rules are minLength, maxLength, pattern, format, enum, default, example, readOnly, writeOnly, title, description, required, nullable`
		ofTime  = `; its rules are minLength, maxLength, pattern, enum, default, example, readOnly, writeOnly, title, description, required, nullable`
		ofWhole = `; its rules are minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf, enum, default, example, title, description, required, nullable`
		ofTexts = `; its rules are minItems, maxItems, uniqueItems, minLength, maxLength, pattern, format, enum, default, example, readOnly, writeOnly, title, description, required, nullable`
		ofList  = `; its rules are minItems, maxItems, uniqueItems, minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf, enum, example, title, description, required, nullable`
		ofAny   = `; its rules are title, description, required, nullable`
		ofTruth = `; its rules are default, title, description, required, nullable`
	)
	for _, test := range []struct {
		of        reflect.Type
		tag, want string
	}{
		// a rule of another type
		{text, `minimum=3`, `the rule "minimum" does not go with string` + ofText},
		{text, `minItems=1`, `the rule "minItems" does not go with string` + ofText},
		{text, `uniqueItems=true`, `the rule "uniqueItems" does not go with string` + ofText},
		{whole, `maxLength=3`, `the rule "maxLength" does not go with int` + ofWhole},
		{whole, `pattern=a`, `the rule "pattern" does not go with int` + ofWhole},
		{reflect.TypeFor[*int](), `format=date`, `the rule "format" does not go with *int` + ofWhole},
		{reflect.TypeFor[time.Duration](), `minLength=1`, `the rule "minLength" does not go with time.Duration` + ofWhole},
		{reflect.TypeFor[json.Number](), `minLength=1`, `the rule "minLength" does not go with json.Number` + ofWhole},
		{reflect.TypeFor[big.Int](), `format=date`, `the rule "format" does not go with big.Int` + ofWhole},
		{truth, `format=date`, `the rule "format" does not go with bool` + ofTruth},
		{truth, `enum=true`, `the rule "enum" does not go with bool` + ofTruth},
		{dict, `maximum=3`, `the rule "maximum" does not go with map[string]int` + ofAny},
		{dict, `default=3`, `the rule "default" does not go with map[string]int` + ofAny},
		{either, `enum=a`, `the rule "enum" does not go with interface {}` + ofAny},
		{reflect.TypeFor[json.RawMessage](), `minLength=1`, `the rule "minLength" does not go with json.RawMessage` + ofAny},
		{reflect.TypeFor[named](), `default=x`, `the rule "default" does not go with schema_test.named` + ofAny},
		{reflect.TypeFor[[]named](), `minimum=1`, `the rule "minimum" does not go with []schema_test.named; its rules are minItems, maxItems, uniqueItems, title, description, required, nullable`},
		{reflect.TypeFor[[][]int](), `minimum=1`, `the rule "minimum" does not go with [][]int; its rules are minItems, maxItems, uniqueItems, title, description, required, nullable`},
		{reflect.TypeFor[[2]bool](), `minItems=1`, `the rule "minItems" does not go with [2]bool; its rules are uniqueItems, title, description, required, nullable`},
		{wholes, `pattern=a`, `the rule "pattern" does not go with []int` + ofList},
		{wholes, `default=1`, `the rule "default" does not go with []int` + ofList},
		{texts, `minimum=1`, `the rule "minimum" does not go with []string` + ofTexts},
		{moment, `format=date`, `the rule "format" does not go with time.Time` + ofTime},
		{reflect.TypeFor[zip](), `format=date`, `the rule "format" does not go with schema_test.zip` + ofTime},
		{either, `oneof_type=string;number,minLength=1`, `the rule "minLength" does not go with interface {}` + ofAny},
		{reflect.TypeFor[**int](), `minimum=1`, `the rule "minimum" does not go with **int` + ofAny},
		// unknown rules
		{whole, `minimun=3`, `the rule "minimun" is not known; did you mean minimum?`},
		{text, `enm=x`, `the rule "enm" is not known; did you mean enum?`},
		{whole, `ge=0`, `the rule "ge" is not known; did you mean minimum?`},
		{wholes, `min_length=1`, `the rule "min_length" is not known; did you mean minItems?`},
		{text, `min_length=1`, `the rule "min_length" is not known; did you mean minLength?`},
		{wholes, `minLength=1`, `the rule "minLength" does not go with []int` + ofList},
		{text, `colour=red`, `the rule "colour" does not go with string` + ofText},
		{text, `description=one, two`, `" two" is no rule; a comma in a text is written \\, or the text goes into jsonschema_description`},
		{text, `enum=a,b`, `"b" is no rule; each value has its own, as in enum=a,enum=b`},
		// values
		{whole, `minimum=abc`, `the rule minimum takes a number, not "abc"`},
		{whole, `minimum=Inf`, `the rule minimum takes a number, not "Inf"`},
		{whole, `minimum`, `the rule minimum takes a number; write minimum=…`},
		{text, `minLength=-1`, `the rule minLength takes a whole number, 0 or more, not "-1"`},
		{text, `pattern=(`, "the pattern \"(\" does not compile: error parsing regexp: missing closing ) in `(`"},
		{text, `title=`, `the rule title takes a text, not ""`},
		{text, `required=true`, `the rule required takes no value; write required alone`},
		{text, `readOnly=yes`, `the rule readOnly takes true or false, not "yes"`},
		{texts, `uniqueItems`, `the rule uniqueItems takes true; write uniqueItems=…`},
		{texts, `uniqueItems=false`, `the rule uniqueItems takes true, not "false"`},
		{texts, `pattern=a=b`, `the rule pattern of a list takes no value with =; give the items a type with a method JSONSchema`},
		{whole, `minimum=1,minimum=2`, `the rule minimum is given twice; leave one out`},
		{text, `enum=a,enum=a`, `the rule enum=a is given twice; leave one out`},
		{text, `type=txt`, `the rule type takes a type of JSON, not "txt"`},
		{text, `type=integer`, `the rule type says integer, but string is string in JSON; leave it out`},
		// formats
		{text, `format=dat`, `the format "dat" is not known; did you mean date?`},
		{texts, `format=e-mail`, `the format "e-mail" is not known; did you mean email?`},
		{text, `format=phone`, `the format "phone" is not known; the formats are date, time, date-time, duration, period, email, hostname, ipv4, ipv6, uri, uri-reference, uri-template, iri, iri-reference, uuid, json-pointer, relative-json-pointer, regex, semver`},
		// enums, defaults and examples that do not fit
		{whole, `enum=1,enum=two`, `the rule enum takes a number, not "two"`},
		{whole, `enum=1.5`, `a value of enum must be an integer, not 1.5`},
		{wholes, `enum=one`, `the rule enum takes a number, not "one"`},
		{mood, `enum=fair`, `the value "fair" of enum is none of schema_test.tagMood; its values are "good", "bad"`},
		{mood, `default=fair`, `the default must be one of "good", "bad", not "fair"`},
		{whole, `default=abc`, `the rule default takes a number, not "abc"`},
		{whole, `default=1.5`, `the default must be an integer, not 1.5`},
		{whole, `maximum=3,default=4`, `the default must be at most 3, not 4`},
		{whole, `maximum=3,example=4`, `the example must be at most 3, not 4`},
		{reflect.TypeFor[flag](), `default=yes`, `the rule default takes true or false, not "yes"`},
		{text, `format=date,default=today`, `the default must be a date such as 2026-01-31, not "today"`},
		{texts, `maxLength=1,default=a,default=bc`, `the default[1] must have at most 1 character, not 2`},
		{texts, `minLength=2,example=a`, `the example must have at least 2 characters, not 1`},
		{reflect.TypeFor[int8](), `default=300`, `the default must be at most 127, not 300`},
		{whole, `default=3.0`, `the default does not fit the Go type int: number 3.0`},
		{reflect.TypeFor[netip.Addr](), `default=here`, `the default does not decode: ParseAddr("here"): unable to parse IP`},
		{moment, `default=now`, `the default must be a date-time such as 2026-01-31T15:04:05Z, not "now"`},
	} {
		_, err := ofTagged(test.of, test.tag)
		checkError(t, err, `field "f": jsonschema tag: `+test.want)
	}
}

func TestFieldErrors(t *testing.T) {
	t.Parallel()
	type inner struct {
		N string `json:"n" jsonschema:"minimum=1"`
	}
	type embedding struct {
		named `jsonschema:"minimum=3"`
	}
	for _, test := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.StructOf([]reflect.StructField{ // vet would not let it stand as a type
			{Name: "A", Type: reflect.TypeFor[string](), Tag: `json:"a"`},
			{Name: "B", Type: reflect.TypeFor[string](), Tag: `json:"a"`},
		}), `field "a": A and B both have this name in JSON; rename one`},
		{reflect.TypeFor[embedding](), `field "named": type schema_test.named is embedded, and has a jsonschema tag that nobody reads; give the tag to its fields, or give it a name in JSON`},
		{reflect.TypeFor[struct {
			Deep []*inner `json:"deep"`
		}](), `field "deep.n": jsonschema tag: the rule "minimum" does not go with string; its rules are minLength, maxLength, pattern, format, enum, default, example, readOnly, writeOnly, title, description, required, nullable`},
		{reflect.TypeFor[struct {
			N int `json:",string" jsonschema:"minimum=1"`
		}](), `field "N": jsonschema tag: the rule "minimum" does not go with int; its rules are minLength, maxLength, pattern, format, enum, default, example, readOnly, writeOnly, title, description, required, nullable`},
	} {
		_, err := schema.Of(test.of)
		checkError(t, err, test.want)
	}
}

// A format that is known is one that is checked.
func TestFormatsAreChecked(t *testing.T) {
	t.Parallel()
	wrong := map[string]string{"iri-reference": "::", "uri-reference": "::", "uri-template": "{", "json-pointer": "x", "regex": "("}
	err := schema.CheckFormat("zzzzzzzz")
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
		if err := schema.CheckFormat(name); err != nil {
			t.Error(err)
		}
	}
}

// knownFormats reads the list at the end of an error.
func knownFormats(err error) []string {
	_, list, _ := strings.Cut(err.Error(), "the formats are ")
	return strings.Split(list, ", ")
}
