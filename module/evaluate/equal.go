package evaluate

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// equal reports whether two JSON values are equal. A missing value equals null.
func equal(a, b json.RawMessage) bool { return bytes.Equal(a, b) || canonical(a) == canonical(b) }

// canonical returns the same text for equal JSON values.
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

// canonicalNumber writes 1.0 and 1e0 as 1. Integers keep all their digits.
func canonicalNumber(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") {
		if n == "-0" {
			return "0"
		}
		return n
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	const exact = 1 << 53
	if f == math.Trunc(f) && math.Abs(f) < exact {
		return json.Number(strconv.FormatInt(int64(f), 10))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}
