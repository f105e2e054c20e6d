package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Encode returns a value as JSON, or nil for undefined and functions. For an object, it encodes the result of its
// toJSON method, if it has one, or else the own enumerable properties and, for an Error, the name and the message. It
// encodes a Date as an ISO string, a Map as an object or an array of pairs, a Set as an array, a BigInt as an exact
// integer, and NaN and infinities as null. Getters, proxies and toJSON run guest code, which may throw.
func (c *Converter) Encode(v goja.Value, limit int) (text json.RawMessage, err error) {
	if c.nesting == maxEncoding {
		return nil, engine.ErrTooDeep
	}
	c.nesting++
	defer func() { c.nesting-- }()
	e := newEncoder(c.VM, limit)
	defer func() { c.Lost = e.lost }()
	if exception := c.VM.Try(func() { err = e.top(v) }); exception != nil {
		return nil, exception
	}
	switch {
	case err != nil:
		return nil, err
	case e.full():
		return nil, e.tooLarge()
	case e.buf.Len() == 0:
		return nil, nil
	}
	return e.buf.Bytes(), nil
}

// maxEncoding is the maximum number of nested calls to Encode: a getter may call a tool, whose arguments are encoded.
const maxEncoding = 20

type encoder struct {
	vm    *goja.Runtime
	buf   bytes.Buffer
	text  *json.Encoder // writes strings to buf
	limit int
	path  []*goja.Object // the enclosing objects, to find cycles
	name  string         // the name of the member that is being encoded
	lost  []string       // see [Converter.Lost]
}

// maxLost is the maximum number of lost values that an encoder reports.
const maxLost = 3

// AppendLost adds a description of a member whose value JSON cannot represent, such as "total is NaN". It adds nothing
// if JSON can represent the value, or if lost already has maxLost descriptions.
func AppendLost(lost []string, name string, v goja.Value) []string {
	what := "a function"
	switch {
	case len(lost) == maxLost:
		return lost
	case v == nil || goja.IsUndefined(v):
		what = "undefined"
	case goja.IsNumber(v) && math.IsNaN(v.ToFloat()*0):
		what = v.String()
	case !absent(v):
		return lost
	}
	if text := fmt.Sprintf("%.50s is %s", cmp.Or(name, "it"), what); !slices.Contains(lost, text) {
		lost = append(lost, text)
	}
	return lost
}

func newEncoder(vm *goja.Runtime, limit int) *encoder {
	e := &encoder{vm: vm, limit: limit}
	e.text = json.NewEncoder(&e.buf)
	e.text.SetEscapeHTML(false)
	return e
}

func (e *encoder) top(v goja.Value) error {
	if absent(v) {
		return nil
	}
	return e.value(v)
}

// errUnpaired is returned for a name with an unpaired surrogate. Two such names could become the same name in JSON.
var errUnpaired = errors.New("a property name contains an unpaired surrogate, which JSON cannot represent")

// absent reports whether JSON leaves out a member with this value.
func absent(v goja.Value) bool {
	if v == nil || goja.IsUndefined(v) {
		return true
	}
	if _, symbol := v.(*goja.Symbol); symbol {
		return true
	}
	_, function := goja.AssertFunction(v)
	return function
}

func (e *encoder) value(v goja.Value) error {
	if e.full() {
		return e.tooLarge()
	}
	e.lost = AppendLost(e.lost, e.name, v)
	if absent(v) || goja.IsNull(v) {
		e.buf.WriteString("null")
		return nil
	}
	if object, ok := v.(*goja.Object); ok {
		return e.object(object)
	}
	return e.primitive(v.Export())
}

// full reports whether the limit is exceeded.
func (e *encoder) full() bool { return e.limit > 0 && e.buf.Len() > e.limit }

// over reports whether a number of items exceeds the limit, however short the items are. It is used to end endless
// iterators.
func (e *encoder) over(items int) bool { return e.limit > 0 && items > e.limit }

func (e *encoder) tooLarge() error {
	return fmt.Errorf("%w: as JSON it has more than %d bytes", ErrTooLarge, e.limit)
}

func (e *encoder) primitive(v any) error {
	switch v := v.(type) {
	case bool:
		e.buf.WriteString(strconv.FormatBool(v))
	case int64:
		e.buf.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		e.buf.WriteString(v.String())
	case string:
		return e.string(v)
	case float64:
		if v == 0 {
			v = 0 // not -0
		}
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte("null") // NaN or infinite
		}
		e.buf.Write(text)
	default:
		return fmt.Errorf("a value of type %T has no JSON form", v)
	}
	return nil
}

func (e *encoder) string(s string) error {
	if e.limit > 0 && len(s) > e.limit {
		return e.tooLarge()
	}
	if err := e.text.Encode(s); err != nil {
		return err
	}
	e.buf.Truncate(e.buf.Len() - 1) // Encode ends a line
	return nil
}

func (e *encoder) object(o *goja.Object) error {
	if len(e.path) >= engine.MaxDepth {
		return engine.ErrTooDeep
	}
	for _, outer := range e.path {
		if outer == o {
			return errors.New("the value contains itself")
		}
	}
	e.path = append(e.path, o)
	defer func() { e.path = e.path[:len(e.path)-1] }()
	class := ClassOf(o)
	if class == "Object" || class == "Error" {
		method := o.Get("toJSON")
		toJSON, ok := goja.AssertFunction(method)
		if ok && !method.SameAs(e.vm.NewObject().Get("toJSON")) { // ignore a toJSON of Object.prototype
			return e.replaced(o, toJSON)
		}
	}
	return e.plain(o, class)
}

// replaced encodes the result of an object's toJSON method.
func (e *encoder) replaced(o *goja.Object, toJSON goja.Callable) error {
	v, err := toJSON(o, e.vm.ToValue(""))
	if err != nil {
		return err
	}
	if other, ok := v.(*goja.Object); ok && !absent(v) { // do not call the method toJSON of the result
		return e.plain(other, ClassOf(other))
	}
	return e.value(v)
}

// plain encodes an object by its kind.
func (e *encoder) plain(o *goja.Object, class string) error {
	switch class {
	case "Array":
		return e.array(o)
	case "Date":
		return e.date(o)
	case "Error":
		return e.members(errorKeys(o), o)
	case "Promise":
		return &promiseError{}
	case "Map":
		return e.entries(o)
	case "Set":
		return e.items(o)
	case "String":
		return e.string(o.String())
	case "Number", "Boolean", "BigInt":
		return e.primitive(o.Export())
	}
	return e.members(o.Keys(), o)
}

// errorKeys returns an Error's members to encode, including inherited ones.
func errorKeys(o *goja.Object) []string {
	keys := []string{"name", "message"}
	for _, key := range o.Keys() {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// lengthOf reads an object's length or size, which the program may have changed.
func lengthOf(o *goja.Object, name string) int {
	if v := o.Get(name); v != nil {
		return int(v.ToInteger())
	}
	return 0
}

func (e *encoder) array(o *goja.Object) error {
	length := lengthOf(o, "length")
	e.buf.WriteByte('[')
	for i := range length {
		e.comma(i)
		if err := e.value(o.Get(strconv.Itoa(i))); err != nil {
			return inMember("["+strconv.Itoa(i)+"]", err)
		}
	}
	e.buf.WriteByte(']')
	return nil
}

func (e *encoder) date(o *goja.Object) error {
	t, ok := o.Export().(time.Time)
	if !ok {
		e.buf.WriteString("null") // an invalid date
		return nil
	}
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return e.string(fmt.Sprintf("%+07d", year) + t.Format("-01-02T15:04:05.000Z"))
	}
	return e.string(t.Format("2006-01-02T15:04:05.000Z"))
}

// members encodes the named properties that have a JSON form.
func (e *encoder) members(names []string, o *goja.Object) error {
	e.buf.WriteByte('{')
	written := 0
	for i, name := range names {
		v := o.Get(name)
		if strings.ContainsRune(name, utf8.RuneError) && (v == nil || slices.Index(names, name) != i) {
			return errUnpaired
		}
		if absent(v) {
			e.lost = AppendLost(e.lost, name, v)
			continue
		}
		e.comma(written)
		written++
		if err := e.member(name, v); err != nil {
			return err
		}
	}
	e.buf.WriteByte('}')
	return nil
}

func (e *encoder) member(name string, v goja.Value) error {
	if err := e.string(name); err != nil {
		return err
	}
	e.buf.WriteByte(':')
	e.name = name
	if err := e.value(v); err != nil {
		return inMember(memberPath(name), err)
	}
	return nil
}

// entries encodes a Map, as an object if all keys are strings.
func (e *encoder) entries(o *goja.Object) error {
	var keys, values []goja.Value
	named := true
	e.vm.ForOf(o, func(pair goja.Value) bool {
		p := pair.ToObject(e.vm)
		_, isText := p.Get("0").(goja.String)
		named = named && isText
		keys, values = append(keys, p.Get("0")), append(values, p.Get("1"))
		return !e.over(len(keys))
	})
	if e.over(len(keys)) {
		return e.tooLarge()
	}
	if !named {
		return e.pairs(keys, values)
	}
	e.buf.WriteByte('{')
	seen := map[string]bool{}
	for i, key := range keys {
		if seen[key.String()] {
			return errUnpaired
		}
		seen[key.String()] = true
		e.comma(i)
		if err := e.member(key.String(), values[i]); err != nil {
			return err
		}
	}
	e.buf.WriteByte('}')
	return nil
}

func (e *encoder) pairs(keys, values []goja.Value) error {
	list := make([]goja.Value, len(keys))
	for i := range keys {
		list[i] = e.vm.NewArray(keys[i], values[i])
	}
	return e.list(list)
}

// items encodes a Set.
func (e *encoder) items(o *goja.Object) error {
	var list []goja.Value
	e.vm.ForOf(o, func(v goja.Value) bool {
		list = append(list, v)
		return !e.over(len(list))
	})
	if e.over(len(list)) {
		return e.tooLarge()
	}
	return e.list(list)
}

func (e *encoder) list(values []goja.Value) error {
	e.buf.WriteByte('[')
	for i, v := range values {
		e.comma(i)
		if err := e.value(v); err != nil {
			return inMember("["+strconv.Itoa(i)+"]", err)
		}
	}
	e.buf.WriteByte(']')
	return nil
}

func (e *encoder) comma(n int) {
	if n > 0 {
		e.buf.WriteByte(',')
	}
}
