package journal

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
)

// A number is the same however it is spelled, and no other.
func TestDecimal(t *testing.T) {
	t.Parallel()
	for spelled, want := range map[json.Number]json.Number{
		"10": "1e1", "10.0": "1e1", "1e1": "1e1", "1E+1": "1e1", "0.1e2": "1e1", "100e-1": "1e1",
		"0": "0", "-0": "0", "0.00e7": "0", "-1.50": "-15e-1", "0.05": "5e-2",
		"9007199254740992": "9007199254740992e0", "9007199254740993": "9007199254740993e0", "9007199254740993.0": "9007199254740993e0",
		"1e999999999": "1e999999999", "1e99999999999999999999": "1e99999999999999999999",
	} {
		if got := decimal(spelled); got != want {
			t.Errorf("%s: got %s, want %s", spelled, got, want)
		}
	}
}

func FuzzDecimal(f *testing.F) {
	for _, n := range []string{"10", "10.0", "1e1", "-0.50E+3", "0", "123456789012345678901234567890"} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
		if text = strings.TrimSpace(text); text == "" || strings.ContainsAny(text[:1], `"{[tfn`) || !json.Valid([]byte(text)) || len(exponent) > 4 {
			return
		}
		got := decimal(json.Number(text))
		was, _ := new(big.Rat).SetString(text)
		is, ok := new(big.Rat).SetString(got.String())
		if !ok || was.Cmp(is) != 0 || !json.Valid([]byte(got)) || decimal(got) != got {
			t.Errorf("%s became %s", text, got)
		}
	})
}

// The key of a call does not depend on how its arguments are spelled.
func TestKey(t *testing.T) {
	t.Parallel()
	key := func(args string) string {
		k, err := keyOf(tools.Call{Tool: &tools.Binding{Tool: &tools.Tool{Name: "pay"}}, Args: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	same := key(`{"n":10,"list":[{"x":0.5}]}`)
	for _, args := range []string{`{"n":1e1,"list":[{"x":5e-1}]}`, `{ "list": [{"x": 0.50}], "n": 10.0 }`} {
		if key(args) != same {
			t.Errorf("%s is another call", args)
		}
	}
	for _, args := range []string{`{"n":"1e1","list":[{"x":0.5}]}`, `{"n":100,"list":[{"x":0.5}]}`, `{"n":10,"list":[{"x":"0.5"}]}`} {
		if key(args) == same {
			t.Errorf("%s is the same call", args)
		}
	}
}
