package tools

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Key returns the key of a call. Two calls with the same key count as the same effect. The
// key depends on the tool's server, its original name, and its arguments, or only the
// arguments in [Hints].Identity. Different notations of a number, such as 10 and 1e1, are
// equal, and a missing argument is equal to its default. For tools of [Func], null and a missing
// argument are equal if the type of the argument does not distinguish them. Key returns an error
// if args are not a JSON object.
func (b *Binding) Key(args json.RawMessage) (string, error) {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(b.Complete(args)))
	d.UseNumber() // 2^53+1 and 2^53 differ
	if err := d.Decode(&object); err != nil {
		return "", fmt.Errorf("tools: arguments of %s: %w", b.Path(), err)
	}
	if input := b.input.get(); input != nil && b.Namespace == "" {
		object, _ = input.DropNulls(object).(map[string]any)
	}
	if id := b.Hints.Identity; id != nil && b.ReplayClass() != Read {
		maps.DeleteFunc(object, func(name string, _ any) bool { return !slices.Contains(id, name) })
	}
	text, err := json.Marshal([]any{b.Namespace, b.Name, canonical(object)}) // sorts the names
	if err != nil {
		return "", fmt.Errorf("tools: arguments of %s: %w", b.Path(), err)
	}
	sum := sha256.Sum256(text)
	return string(sum[:]), nil
}

// canonical returns a value with its numbers in canonical notation. It may modify v.
func canonical(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = canonical(member)
		}
	case []any:
		for i, item := range v {
			v[i] = canonical(item)
		}
	case json.Number:
		return decimal(v)
	}
	return v
}

// decimal returns a number as an integer without trailing zeros and a power of ten: 1e1 for
// 10, 10.0 and 0.1e2. A number whose exponent exceeds 32 bits is returned as it is.
func decimal(n json.Number) json.Number {
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
