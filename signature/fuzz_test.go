package signature_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/writ-go/writ/signature"
)

// FuzzDecode checks that a decoded output, encoded again, decodes to the same.
func FuzzDecode(f *testing.F) {
	s := signature.Must(signature.New[question, answer]("Answer."))
	f.Add([]byte(`{"big": 9007199254740993, "mood": "good", "when": "2026-01-31T15:04:05Z", "counts": {"a": [1]}, ` +
		`"any": {"x": null}}`))
	f.Add([]byte(`{"big": 1e3, "mood": "bad", "small": 300}`))
	f.Add([]byte(`{"BIG": 1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := s.Decode(raw)
		if err != nil {
			return
		}
		again, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.Decode(again)
		if err != nil {
			t.Fatalf("%s, from %s, does not decode: %v", again, raw, err)
		}
		third, err := json.Marshal(second)
		if err != nil || !reflect.DeepEqual(again, third) {
			t.Errorf("got %s, want %s (%v)", third, again, err)
		}
	})
}

func FuzzValues(f *testing.F) {
	f.Add([]byte(`{"b": [1, {}], "a": "x"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var values signature.Values
		if json.Unmarshal(raw, &values) != nil {
			return
		}
		written, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		var read signature.Values
		if err := json.Unmarshal(written, &read); err != nil || len(read) != len(values) {
			t.Errorf("%s became %s (%v)", raw, written, err)
		}
	})
}
