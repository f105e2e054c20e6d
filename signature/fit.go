package signature

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
)

const maxDepth = 1_000 // of a value, as schema.Schema.Validate has it

// misnamed finds the names in an object that differ only in case from those of a
// struct's fields, which encoding/json would decode into those fields.
func misnamed(raw json.RawMessage, t reflect.Type) []schema.Finding {
	doc, err := jsonvalue.Decode(raw, maxDepth, true)
	if err != nil {
		return nil
	}
	f := fitter{doc: doc}
	f.value(doc.Value, t, "")
	return f.findings
}

// fitter walks a value along the Go type that it is decoded into.
type fitter struct {
	doc      *jsonvalue.Document
	findings []schema.Finding // names that differ in case
}

func (f *fitter) value(v any, t reflect.Type, at spot) {
	t = solid(t)
	if decodes(t) {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		switch t.Kind() {
		case reflect.Struct:
			f.object(v, t, at)
		case reflect.Map:
			for name, member := range v {
				f.value(member, t.Elem(), at.member(name))
			}
		}
	case []any:
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
			for i, item := range v {
				f.value(item, t.Elem(), at+spot(fmt.Sprintf("[%d]", i)))
			}
		}
	}
}

func (f *fitter) object(object map[string]any, t reflect.Type, at spot) {
	fields := fieldsOf(t)
	for _, name := range f.doc.Names(object) {
		switch field, own := fieldNamed(fields, name); own {
		case name:
			f.value(object[name], field, at.member(name))
		case "":
		default:
			f.findings = append(f.findings, schema.Finding{
				Path: string(at.member(name)), Message: "is not a known property", Hint: "did you mean " + own + "?",
			})
		}
	}
}

// fieldNamed returns the type and the name of the field that encoding/json
// decodes a name into. The name is empty if there is none.
func fieldNamed(fields []reflect.StructField, name string) (reflect.Type, string) {
	var folded reflect.StructField
	for _, f := range fields {
		switch own := nameOf(f); {
		case own == name:
			return f.Type, own
		case strings.EqualFold(own, name):
			folded = f
		}
	}
	if folded.Type == nil {
		return nil, ""
	}
	return folded.Type, nameOf(folded)
}

func integral(k reflect.Kind) bool { return reflect.Int <= k && k <= reflect.Uintptr }

// bounds returns the range of a Go integer type.
func bounds(t reflect.Type) (least, most string) {
	switch k := t.Kind(); {
	case !integral(k):
		return "", ""
	case k >= reflect.Uint:
		return "0", strconv.FormatUint(math.MaxUint64>>(64-t.Bits()), 10)
	default:
		most := int64(math.MaxInt64) >> (64 - t.Bits())
		return strconv.FormatInt(-most-1, 10), strconv.FormatInt(most, 10)
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
