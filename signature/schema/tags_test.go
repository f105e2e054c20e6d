package schema_test

import (
	"reflect"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

func TestTags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.StructOf([]reflect.StructField{ // vet would not let it stand as a type
			{Name: "A", Type: reflect.TypeFor[string](), Tag: `json:"a"`},
			{Name: "B", Type: reflect.TypeFor[string](), Tag: `json:"a"`},
		}), `field "B": type string has the name "a" in JSON, and so has the field A; rename one`},
		{reflect.TypeFor[struct {
			A string `jsonschema:"description=one, two"`
		}](), `field "A": type string has a jsonschema tag with " two", which is no keyword; a comma in a text is written \\, or the text goes into jsonschema_description`},
		{reflect.TypeFor[struct {
			A string `jsonschema:"enm=x"`
		}](), `field "A": type string has a jsonschema tag with the unknown keyword "enm"`},
		{reflect.TypeFor[struct {
			A int `jsonschema:"minimum=abc"`
		}](), `field "A": type int has a jsonschema tag whose minimum is no number: "abc"`},
		{reflect.TypeFor[struct {
			A int `jsonschema:"required,minimum=1,maximum=2.5,description=one\\, two"`
			B struct {
				C string `jsonschema:"enum=a,enum=b" jsonschema_description:"one, two"`
			}
		}](), ""},
	} {
		_, err := schema.Of(test.of)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
