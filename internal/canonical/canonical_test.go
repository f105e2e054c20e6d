package canonical

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

// Numbers are equal in any notation, and different numbers are not.
func TestNumber(t *testing.T) {
	t.Parallel()
	for spelled, want := range map[json.Number]json.Number{
		"10": "1e1", "10.0": "1e1", "1e1": "1e1", "1E+1": "1e1", "0.1e2": "1e1", "100e-1": "1e1",
		"0": "0", "-0": "0", "0.00e7": "0", "-1.50": "-15e-1", "0.05": "5e-2",
		"9007199254740992": "9007199254740992e0", "9007199254740993": "9007199254740993e0",
		"9007199254740993.0": "9007199254740993e0",
		"1e999999999":        "1e999999999", "1e99999999999999999999": "1e99999999999999999999",
	} {
		if got := Number(spelled); got != want {
			t.Errorf("%s: got %s, want %s", spelled, got, want)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, n := range []string{"10", "10.0", "1e1", "-0.50E+3", "0", "123456789012345678901234567890"} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
		if text = strings.TrimSpace(text); text == "" || strings.ContainsAny(text[:1], `"{[tfn`) || len(exponent) > 4 {
			return
		}
		if !json.Valid([]byte(text)) {
			return
		}
		got := Number(json.Number(text))
		was, _ := new(big.Rat).SetString(text)
		is, ok := new(big.Rat).SetString(got.String())
		if !ok || was.Cmp(is) != 0 || !json.Valid([]byte(got)) || Number(got) != got {
			t.Errorf("%s became %s", text, got)
		}
	})
}

// Values are equal however they are written. A missing value equals null.
func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[2.0]}`, `{ "b": [2], "a": 1e0 }`, true},
		{`"\u0041"`, `"A"`, true},
		{``, `null`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`[1,2]`, `[2,1]`, false},
		{`"1"`, `1`, false},
		{`not JSON`, `not JSON`, true},
		{`not JSON`, `JSON`, false},
	} {
		if got := Equal([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s and %s: got %t", c.a, c.b, got)
		}
	}
}

// The canonical form is that of encoding/json, with canonical numbers.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"b":[1.0,{"z":null,"a":true}],"a":"x"}`, ` { "a" : -0.50E+3 , "b" : [ ] , "c":{ } } `, `{"a":1,"a":{"b":2}}`,
		`{"\u0061":1,"a":2,"é":"<\u2028\ud800>","\"":"\\"}`, `{"b":1,"a":{"d":1,"c":2},"b":3}`, `[[],[false]]`,
		"{\"\xff\":1,\"\xfe\":2,\"\ufffd\":3}", `1e99999999999`, `1 2`, ``, `nul`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := text
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if json.Valid([]byte(text)) && d.Decode(&v) == nil {
			encoded, _ := json.Marshal(withNumbers(v))
			want = string(encoded)
		}
		if got := JSON([]byte(text)); text != "" && got != want {
			t.Errorf("%s became %s instead of %s", text, got, want)
		}
	})
}

func withNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = withNumbers(member)
		}
	case []any:
		for i, item := range v {
			v[i] = withNumbers(item)
		}
	case json.Number:
		return Number(v)
	}
	return v
}
