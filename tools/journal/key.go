package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/tools"
)

// keyOf says which effect a call is: server, tool and identity arguments, in a
// canonical form.
func keyOf(c tools.Call) (string, error) {
	var args map[string]any
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber() // 2^53+1 and 2^53 are different arguments
	if err := d.Decode(&args); err != nil {
		return "", fmt.Errorf("journal: arguments of %s: %w", c.Tool.Path(), err)
	}
	if id := c.Tool.Hints.Identity; id != nil && c.Tool.Hints.Class != tools.Read {
		for name := range args {
			if !slices.Contains(id, name) {
				delete(args, name)
			}
		}
	}
	text, err := json.Marshal([]any{c.Tool.Namespace, c.Tool.Name, canonical(args)}) // sorts the names
	if err != nil {
		return "", fmt.Errorf("journal: arguments of %s: %w", c.Tool.Path(), err)
	}
	sum := sha256.Sum256(text)
	return string(sum[:]), nil
}

// canonical returns a value with its numbers in one spelling. It may change v.
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

// decimal spells a number as an integer that does not end with 0, and a power of
// ten: 1e1 for 10, 10.0 and 0.1e2. One with an exponent beyond 32 bits stays as
// it is.
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
