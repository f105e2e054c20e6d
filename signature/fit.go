package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// unmarshal decodes a value. A whole number that is written otherwise, such as 3.0
// or 1e2, is one for a Go integer, too. Exact keeps the digits of numbers in an any.
func unmarshal(raw json.RawMessage, into any, exact bool) error {
	err := decodeInto(raw, into, exact)
	if err == nil {
		return nil
	}
	v := reflect.ValueOf(into).Elem()
	f := fitter{cutter: cutter{text: raw}}
	f.value(v.Type(), "")
	if f.out == nil {
		return err
	}
	v.SetZero()
	return decodeInto(append(f.out, raw[f.copied:]...), into, exact)
}

// decodeInto decodes a value; a method that panics is an error.
func decodeInto(raw json.RawMessage, into any, exact bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if !exact {
		return json.Unmarshal(raw, into)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// misnamed finds the names in an object that encoding/json would take for those
// of a struct's fields, though their case is another.
func misnamed(raw json.RawMessage, t reflect.Type) []schema.Finding {
	f := fitter{cutter: cutter{text: raw}}
	f.value(t, "")
	return f.findings
}

// fitter walks through a value along the Go type that it is decoded into.
type fitter struct {
	cutter
	findings []schema.Finding // names of the wrong case
	out      []byte           // the text with its whole numbers rewritten; nil if there are none
	copied   int              // bytes of the text that are in out
}

var bigInt = reflect.TypeFor[big.Int]()

func (f *fitter) value(t reflect.Type, at spot) {
	t = solid(t)
	own := t != bigInt && decodes(t)
	switch first := f.skip(); {
	case own:
		f.cutter.value()
	case first == '{' && t.Kind() == reflect.Struct:
		f.object(t, at)
	case first == '{' && t.Kind() == reflect.Map:
		for f.at++; f.skip() != '}'; {
			key := nameIn(nil, f.string())
			f.value(t.Elem(), at.member(key))
		}
		f.at++
	case first == '[' && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		i := 0
		for f.at++; f.skip() != ']'; i++ {
			f.value(t.Elem(), at+spot(fmt.Sprintf("[%d]", i)))
		}
		f.at++
	case t == bigInt || integral(t.Kind()):
		f.number()
	default:
		f.cutter.value()
	}
}

func (f *fitter) object(t reflect.Type, at spot) {
	fields := fieldsOf(t)
	for f.at++; f.skip() != '}'; {
		name := nameIn(nil, f.string())
		field, meant := fieldNamed(fields, name)
		switch {
		case meant == name:
			f.value(field, at.member(name))
		case meant != "":
			f.findings = append(f.findings, schema.Finding{Path: string(at.member(name)), Message: "is not a known property, but for its case", Hint: "did you mean " + meant + "?"})
			f.cutter.value()
		default:
			f.cutter.value()
		}
	}
	f.at++
}

// fieldNamed returns the type and the name of the field that encoding/json
// decodes a name into; no name if there is none.
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

// number writes a whole number as encoding/json takes it for an integer.
func (f *fitter) number() {
	f.skip()
	start := f.at
	text := string(f.cutter.value())
	if strings.IndexByte("-0123456789", text[0]) < 0 || !strings.ContainsAny(text, ".eE") {
		return
	}
	if n, ok := new(big.Rat).SetString(text); ok && n.IsInt() {
		f.out = append(f.out, f.text[f.copied:start]...)
		f.out = append(f.out, n.Num().String()...)
		f.copied = f.at
	}
}

func integral(k reflect.Kind) bool { return reflect.Int <= k && k <= reflect.Uintptr }

// bounds are the least and the most that a Go integer may be, or nothing.
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

// closed reports whether a schema certainly admits no properties but those that it
// names, wherever an object may be.
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
