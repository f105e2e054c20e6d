package signature_test

import (
	"fmt"
	"log"
	"testing"

	"github.com/writ-go/writ/signature"
)

// A parsed signature has values for inputs and outputs.
func ExampleValuesOf() {
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
	var answer string
	if err := out.Decode("answer", &answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	// Output:
	// question "Who?"
	// Nobody <em>
}

func TestValuesOfNothing(t *testing.T) {
	t.Parallel()
	for _, v := range []any{nil, 1, "text", []int{1}, make(chan int), map[int]any{1: func() {}}} {
		if values, err := signature.ValuesOf(v); values != nil || err == nil {
			t.Errorf("%T: got %v and %v", v, values, err)
		}
	}
	var n int
	values := signature.Values{{Name: "text", JSON: []byte(`"a"`)}, {Name: "none"}}
	for name, want := range map[string]string{
		"other": `signature: there is no value "other"`,
		"text":  `signature: the value of "text": json: cannot unmarshal string into Go value of type int`,
	} {
		if err := values.Decode(name, &n); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := values.Decode("none", &n); err != nil {
		t.Error(err)
	}
}
