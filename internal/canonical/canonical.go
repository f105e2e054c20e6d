// Package canonical writes equal JSON values in the same way: with sorted names and one notation of numbers.
package canonical

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// Equal reports whether two JSON values are equal. Empty text equals null.
func Equal(a, b []byte) bool { return bytes.Equal(a, b) || JSON(a) == JSON(b) }

// JSON returns the canonical form of a JSON value. It returns text that is not JSON unchanged.
func JSON(raw []byte) string {
	if len(raw) == 0 {
		return "null"
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // 2^53+1 and 2^53 differ
	if err := d.Decode(&v); err != nil {
		return string(raw)
	}
	text, err := json.Marshal(Value(v))
	if err != nil {
		return string(raw)
	}
	return string(text)
}

// Value returns a decoded value with its numbers in canonical notation. It may modify v.
func Value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = Value(member)
		}
	case []any:
		for i, item := range v {
			v[i] = Value(item)
		}
	case json.Number:
		return Number(v)
	}
	return v
}

// Number returns a number as an integer without trailing zeros and a power of ten: 1e1 for 10, 10.0 and 0.1e2.
// Number returns a number whose exponent exceeds 32 bits unchanged.
func Number(n json.Number) json.Number {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	power, err := strconv.ParseInt(strings.TrimPrefix(cmp.Or(exponent, "0"), "+"), 10, 32)
	if err != nil {
		return n
	}
	sign := mantissa[:len(mantissa)-len(strings.TrimPrefix(mantissa, "-"))]
	whole, fraction, _ := strings.Cut(mantissa[len(sign):], ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	integer := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(integer) - len(fraction))
	return json.Number(sign + integer + "e" + strconv.FormatInt(power, 10))
}
