package signature

import (
	"math"
	"math/big"
	"reflect"
	"strconv"
)

func integral(k reflect.Kind) bool { return reflect.Int <= k && k <= reflect.Uintptr }

// bounds returns the range of a Go integer type.
func bounds(t reflect.Type) (lowest, highest string) {
	switch k := t.Kind(); {
	case !integral(k):
		return "", ""
	case k >= reflect.Uint:
		return "0", strconv.FormatUint(math.MaxUint64>>(64-t.Bits()), 10)
	default:
		highest := int64(math.MaxInt64) >> (64 - t.Bits())
		return strconv.FormatInt(-highest-1, 10), strconv.FormatInt(highest, 10)
	}
}

func isInteger(number string) bool {
	_, ok := new(big.Int).SetString(number, 10)
	return ok
}

// closed reports whether a schema certainly admits only the properties that it
// names, in every object.
func closed(v any) bool {
	rule, _ := v.(map[string]any)
	if either, union := rule["anyOf"].([]any); union {
		for _, one := range either {
			if !closed(one) {
				return false
			}
		}
		return true
	}
	switch rule["type"] {
	case "string", "number", "integer", "boolean", "null":
		return true
	case "array":
		return rule["prefixItems"] == nil && closed(rule["items"])
	case "object":
		properties, _ := rule["properties"].(map[string]any)
		for _, property := range properties {
			if !closed(property) {
				return false
			}
		}
		return rule["additionalProperties"] == false
	default:
		return false
	}
}
