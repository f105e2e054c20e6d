package signature_test

import (
	"encoding/json"
	"fmt"
	"log"
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
		{"cut off", `{"a": `, `signature: values must be a JSON object`},
		{"not closed", `{"a": 1`, `signature: values must be a JSON object`},
		{"empty", ``, `signature: values must be a JSON object`},
		{"more", `{} {}`, `signature: values must be a JSON object`},
		{"escaped twice", `{"a": 1, "\u0061": 2}`, `signature: the value of "a" is given twice`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var values signature.Values
			checkError(t, values.UnmarshalJSON([]byte(test.raw)), test.want)
		})
	}
	_, err := json.Marshal(signature.Values{{Name: "a", JSON: json.RawMessage("{")}})
	checkError(t, err, `json: error calling MarshalJSON for type signature.Values: signature: the value of "a" is `+
		`not JSON: unexpected end of JSON input`)
}

func TestValuesWithoutJSONAreNull(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(signature.Values{{Name: "a"}})
	if err != nil || string(got) != `{"a":null}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestValuesOfErrors(t *testing.T) {
	t.Parallel()
	for _, v := range []any{nil, 1, "text", []int{1}, make(chan int), map[int]any{1: func() {}}} {
		if values, err := signature.ValuesOf(v); values != nil || err == nil {
			t.Errorf("%T: got %v and %v", v, values, err)
		}
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	values := signature.Values{
		{Name: "text", JSON: []byte(`"a"`)}, {Name: "list", JSON: []byte(`[1, 2]`)}, {Name: "none"}, {Name: "big",
			JSON: []byte(
				`300`)},
	}
	if got, err := signature.Get[string](values, "text"); got != "a" || err != nil {
		t.Errorf("text: got %q, %v", got, err)
	}
	if got, err := signature.Get[[]int](values, "list"); len(got) != 2 || err != nil {
		t.Errorf("list: got %v, %v", got, err)
	}
	if got, err := signature.Get[*int](values, "none"); got != nil || err != nil {
		t.Errorf("none: got %v, %v", got, err)
	}
	for name, want := range map[string]string{
		"other": `signature: the value of "other" is missing`,
		"text":  `signature: the value of "text": json: cannot unmarshal string into Go value of type int8`,
		"big":   `signature: the value of "big": json: cannot unmarshal number 300 into Go value of type int8`,
	} {
		got, err := signature.Get[int8](values, name)
		checkError(t, err, want)
		if got != 0 {
			t.Errorf("%s: got %d", name, got)
		}
	}
}

// Inputs and outputs of a parsed signature are Values.
func ExampleGet() {
	qa := signature.Must(signature.Parse("question, context: list[str] -> answer: str, score: float", ""))
	in, err := signature.ValuesOf(map[string]any{"question": "Who?", "context": []string{"Nobody came."}})
	if err != nil {
		log.Fatal(err)
	}
	encoded, err := qa.Encode(in)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(encoded[0].Name, string(encoded[0].JSON))

	out, err := qa.Decode([]byte(`{"score": 0.5, "answer": "Nobody <em>"}`))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := signature.Get[string](out, "answer")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	// Output:
	// question "Who?"
	// Nobody <em>
}
