package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Unmarshal decodes JSON into the Go value that into points to. It differs from encoding/json: the JSON of an integer
// may be 3.0 or 1e2; the JSON of a [time.Time] may be a date such as 2026-01-31, which means midnight UTC; and a number
// in an any becomes a [json.Number]. If one of the value's methods panics, Unmarshal returns an error.
func Unmarshal(raw json.RawMessage, into any) error {
	err := decodeInto(raw, into)
	if err == nil {
		return nil
	}
	doc, invalid := jsonvalue.Decode(raw, maxValueDepth, true)
	if invalid != nil {
		return err
	}
	var rewritten speller
	v := reflect.ValueOf(into).Elem()
	if value := (walker{selfDecoding, rewritten.leaf}).value(nil, doc.Value, v.Type()); rewritten {
		v.SetZero()
		return decodeInto(doc.Encode(value), into)
	}
	return err
}

func decodeInto(raw json.RawMessage, into any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

var (
	bigInt = reflect.TypeFor[big.Int]()
	moment = reflect.TypeFor[time.Time]()
)

// speller rewrites integers and dates so that encoding/json can decode them. It is true if it has rewritten a value.
type speller bool

func (s *speller) leaf(v any, _ map[string]any, t reflect.Type) any {
	switch v := v.(type) {
	case json.Number:
		if !isInteger(t) || !strings.ContainsAny(v.String(), ".eE") {
			break
		}
		if n, ok := new(big.Rat).SetString(v.String()); ok && n.IsInt() {
			*s = true
			return json.Number(n.Num().String())
		}
	case string:
		if t != moment {
			break
		}
		if _, err := time.Parse(time.DateOnly, v); err == nil {
			*s = true
			return v + "T00:00:00Z"
		}
	}
	return v
}

func isInteger(t reflect.Type) bool {
	return t == bigInt || t != nil && integral(t.Kind()) && !reflect.PointerTo(t).Implements(selfDecoding)
}
