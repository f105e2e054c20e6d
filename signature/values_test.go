package signature_test

import (
	"encoding/json"
	"testing"

	"github.com/writ-go/writ/signature"
)

func TestValuesKeepOrder(t *testing.T) {
	t.Parallel()
	const raw = `{"z":[1,{"b":1,"a":2}],"a":null,"m\"":"x"}`
	var values signature.Values
	if err := json.Unmarshal([]byte(raw), &values); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(values)
	if err != nil || string(got) != raw {
		t.Errorf("got  %s, %v\nwant %s", got, err, raw)
	}
}

func TestValuesGet(t *testing.T) {
	t.Parallel()
	values := signature.Values{{Name: "a", JSON: json.RawMessage("1")}}
	if got, ok := values.Get("a"); string(got) != "1" || !ok {
		t.Errorf("got %s, %v", got, ok)
	}
	if got, ok := values.Get("b"); got != nil || ok {
		t.Errorf("got %s, %v", got, ok)
	}
}

func TestValuesErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, raw, want string }{
		{"array", `[]`, `signature: values must be a JSON object`},
		{"number", `1`, `signature: values must be a JSON object`},
		{"twice", `{"a": 1, "a": 2}`, `signature: the value of "a" is given twice`},
		{"cut off", `{"a": `, `signature: values: EOF`},
		{"not closed", `{"a": 1`, `signature: values: EOF`},
		{"empty", ``, `signature: values: EOF`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var values signature.Values
			checkError(t, values.UnmarshalJSON([]byte(test.raw)), test.want)
		})
	}
	_, err := json.Marshal(signature.Values{{Name: "a", JSON: json.RawMessage("{")}})
	checkError(t, err, `json: error calling MarshalJSON for type signature.Values: signature: the value of "a" is not JSON: unexpected end of JSON input`)
}

func TestValuesWithoutJSONAreNull(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(signature.Values{{Name: "a"}})
	if err != nil || string(got) != `{"a":null}` {
		t.Errorf("got %s, %v", got, err)
	}
}
