package signature_test

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature"
)

type counted struct {
	N    int               `json:"n"`
	All  []*int8           `json:"all"`
	By   map[string]uint   `json:"by"`
	Big  big.Int           `json:"big"`
	Real float64           `json:"real"`
	Any  any               `json:"any"`
	Raw  json.RawMessage   `json:"raw"`
	Deep struct{ M int64 } `json:"deep"`
}

const countedJSON = `{"n":N,"all":[1,2.0],"by":{"a":3e1},"big":1.5e30,"real":3.0,"any":1.0,"raw":[1e2],` +
	`"deep":{"M":9007199254740993.0}}`

// JSON Schema does not distinguish 3 and 3.0, and models write both.
func TestWholeNumbersAreIntegers(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[none, counted]("Count."))
	want := counted{N: -100, All: []*int8{some(int8(1)), some(int8(2))}, By: map[string]uint{"a": 30}, Real: 3,
		Any: json.Number(
			"1.0"), Raw: json.RawMessage(`[1e2]`)}
	want.Big.SetString("1500000000000000000000000000000", 10)
	want.Deep.M = 1<<53 + 1
	got, err := s.Decode([]byte(strings.Replace(countedJSON, `"n":N`, `"n":-1.00e2`, 1)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	for number, want := range map[string]string{
		"1.5":   "n must be an integer, not 1.5",
		"1e40":  "n does not fit the Go type int: number 10000000000000000000000000000000000000000",
		`"3.0"`: `n must be an integer, not "3.0"`,
	} {
		got, err := s.Decode([]byte(strings.Replace(countedJSON, `"n":N`, `"n":`+number, 1)))
		checkError(t, err, want)
		if !reflect.DeepEqual(got, counted{}) {
			t.Errorf("got %+v with the error", got)
		}
	}
	_, err = s.Decode([]byte(strings.Replace(countedJSON, `N,"all":[1,2.0],"by":{"a":3e1},"big":1.5e30`,
		`1,"all":[],"by":{},"big":null`, 1)))
	checkError(t, err, "big must be an integer, not null")
}

func TestUnpairedSurrogates(t *testing.T) {
	t.Parallel()
	s := signature.Must(signature.New[none, struct {
		A string
		B any
	}]("Write."))
	tests := []struct{ output, want string }{
		{`{"A": "\ud83d\ude00 \\ud800 \u00e9", "B": 1}`, ``},
		{`{"A": "x", "B": [{"a": "\ud83d"}]}`, `B contains an unpaired surrogate escape, \ud83d (write the character itself)`},
		{`{"A": "\uDE00\uD83D", "B": 1}`, `A contains an unpaired surrogate escape, \uDE00 (write the character itself)`},
		{`{"A": "\\\ud83d\\ude00", "B": 1}`, `A contains an unpaired surrogate escape, \ud83d (write the character itself)`},
		{"{\"A\": \"\xff\", \"B\": 1}", `A contains bytes that are not UTF-8 (write the character itself)`},
	}
	for _, test := range tests {
		_, err := s.Decode([]byte(test.output))
		if test.want != "" {
			checkError(t, err, test.want)
		} else if err != nil {
			t.Error(err)
		}
	}
}

// furious panics in every method.
type furious struct{}

func (furious) MarshalJSON() ([]byte, error)    { panic("no") }
func (*furious) UnmarshalJSON(raw []byte) error { panic("never") }

func TestMethodsThatPanic(t *testing.T) {
	t.Parallel()
	type in struct{ A furious }
	type out struct{ B furious }
	s := signature.Must(signature.New[in, out]("Try."))
	_, err := s.Encode(in{})
	checkError(t, err, `signature: input: cannot encode *signature_test.in: panic: no`)
	_, err = s.Decode([]byte(`{"B": 1}`))
	checkError(t, err, "B cannot be decoded: panic: never")
}

// FuzzNumbers checks that a value means the same however its numbers are written.
func FuzzNumbers(f *testing.F) {
	s := signature.Must(signature.New[none, counted]("Count."))
	f.Add(strings.Replace(countedJSON, `"n":N`, `"n":1`, 1))
	f.Add(strings.Replace(countedJSON, `"n":N`, `"n":-1.00e2`, 1))
	f.Fuzz(func(t *testing.T, output string) {
		got, err := s.Decode([]byte(output))
		if err != nil {
			return
		}
		written, err := json.Marshal(&got)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.Decode(written); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: got %+v, %v, want %+v", output, again, err, got)
		}
	})
}
