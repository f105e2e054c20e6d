package evaluate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// equal reports whether two JSON values are equal. A missing value equals null.
func equal(a, b json.RawMessage) bool { return bytes.Equal(a, b) || canonical(a) == canonical(b) }

// canonical returns the same string for equal JSON values.
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "null"
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(raw)
	}
	text, err := encode(withEqualNumbers(v))
	if err != nil {
		return string(raw)
	}
	return string(text)
}

// withEqualNumbers writes equal numbers in the same way.
func withEqualNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return canonicalNumber(v)
	case []any:
		for i := range v {
			v[i] = withEqualNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withEqualNumbers(v[name])
		}
	}
	return v
}

// canonicalNumber writes a number with all its digits and without an exponent: 1.0 and 1e0 as 1. A number with more
// than a thousand digits stays as it is.
func canonicalNumber(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") && n != "-0" {
		return n
	}
	const limit = 1000
	_, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	e, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if err != nil || e < -limit || e > limit || len(n) > limit {
		return n
	}
	exact, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return n
	}
	decimals, _ := exact.FloatPrec()
	return json.Number(exact.FloatString(decimals))
}
