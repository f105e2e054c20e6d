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
		{"cut off", `{"a": `, `signature: values: unexpected end of JSON input`},
		{"not closed", `{"a": 1`, `signature: values: unexpected end of JSON input`},
		{"empty", ``, `signature: values: unexpected end of JSON input`},
		{"more", `{} {}`, `signature: values: invalid character '{' after top-level value`},
		{"escaped twice", `{"a": 1, "\u0061": 2}`, `signature: the value of "a" is given twice`},
		{"twice of many", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1,"r":1,"b":1}`, `signature: the value of "b" is given twice`},
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
