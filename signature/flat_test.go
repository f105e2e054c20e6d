package signature

import (
	"encoding/json"
	"reflect"
	"testing"
)

type level string

func (l *level) UnmarshalText(text []byte) error { *l = level(text) + "!"; return nil }

func TestFlat(t *testing.T) {
	t.Parallel()
	type inner struct{ A int }
	for _, v := range []any{
		struct{ A any }{}, struct{ A *int }{}, struct{ A []string }{}, struct{ A level }{}, struct{ A json.Number }{}, struct{ A uintptr }{},
		struct {
			A int `json:",string"`
		}{}, struct {
			A string `json:"a,string,omitempty"`
		}{}, struct{ inner }{}, struct{ A inner }{}, 1, Values{}, map[string]int{},
	} {
		if newFlat(reflect.TypeOf(v)) != nil {
			t.Errorf("%T is flat", v)
		}
	}
}

type scalars struct {
	Text  string  `json:"text"`
	Mood  mood    `json:"mood,omitempty"`
	Truth bool    `json:"truth"`
	Int   int     `json:"int"`
	Small int8    `json:"small"`
	Count uint16  `json:"count"`
	Float float64 `json:"float"`
	Half  float32 `json:"half"`
	Skip  any     `json:"-"`
}

type mood string

// FuzzFlat holds that what is decoded at once is what encoding/json decodes.
func FuzzFlat(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"text": "a", "mood" : "good", "truth":true,"int":-3, "small": 127, "count": 65535, "float": 1e3, "half": 0.1}`, `{"text": "\u0061"}`,
		"{\"text\": \"\xff\"}", `{"text": null}`, `{"truth": null}`, `{"int": null}`, `{"int": 1.0}`, `{"int": "1"}`, `{"small": 128}`, `{"count": -1}`,
		`{"float": 1e999}`, `{"half": 1e39}`, `{"TEXT": "a"}`, `{"Skip": 1}`, `{"text": ["a"]}`, `{"int": 01}`, `{"float": "NaN"}`, `[]`, `"a"`, `{"int": 9223372036854775808}`,
	} {
		f.Add([]byte(text))
	}
	quick := newFlat(reflect.TypeFor[scalars]())
	if len(quick) != 8 {
		f.Fatalf("%d fields", len(quick))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var got, want scalars
		if !quick.decode(raw, reflect.ValueOf(&got).Elem()) {
			return
		}
		if err := json.Unmarshal(raw, &want); err != nil || got != want {
			t.Errorf("%s: got %+v, want %+v (%v)", raw, got, want, err)
		}
	})
}
