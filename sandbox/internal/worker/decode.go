package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// decoder reads a body into one of the structs of the protocol, in one pass, and
// more strictly than encoding/json: a key must be spelled as the field is, must
// be known, and may come once; so, too, inside the values that are passed on as
// they are. Those are the canonical text, for which see scanner.
type decoder struct {
	scanner
	room int // bytes that the elements of lists may still take
}

// distrusted reads what a worker wrote. An element of a list may cost the host much
// more than its sender, so there is room only for so many bytes of them.
func distrusted(body []byte, room int, v any) error {
	d := decoder{scanner: scanner{in: body, out: make([]byte, 0, len(body))}, room: room}
	return d.decode(v)
}

// trusted reads what the host wrote.
func trusted(body []byte, v any) error {
	d := decoder{scanner: scanner{in: body, out: make([]byte, 0, len(body)), trusting: true}, room: math.MaxInt}
	return d.decode(v)
}

func (d *decoder) decode(v any) error {
	target := reflect.ValueOf(v).Elem()
	if err := d.into(shapeOf(target.Type()), target); err != nil {
		return err
	}
	return d.end()
}

// shape is a type as the decoder sees it.
type shape struct {
	kind   reflect.Kind
	raw    bool           // a json.RawMessage
	fields map[string]int // of a struct: where in list
	list   []field
	elem   *shape // of a slice or pointer
}

type field struct {
	name  string
	index []int
	*shape
}

var shapes sync.Map // of reflect.Type: *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := newShape(t)
	shapes.Store(t, s)
	return s
}

// newShape describes a type. The types of the protocol are plain and don't
// contain themselves.
func newShape(t reflect.Type) *shape {
	s := &shape{kind: t.Kind(), raw: t == reflect.TypeFor[json.RawMessage]()}
	switch {
	case s.raw:
	case s.kind == reflect.Slice, s.kind == reflect.Pointer:
		s.elem = shapeOf(t.Elem())
	case s.kind == reflect.Struct:
		s.fields = map[string]int{}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" || !f.IsExported() || name == "-" {
				continue // embedded: its fields are listed, too
			}
			if name == "" {
				name = f.Name
			}
			s.fields[name] = len(s.list)
			s.list = append(s.list, field{name, f.Index, shapeOf(f.Type)})
		}
	}
	return s
}

// into reads one value.
func (d *decoder) into(s *shape, v reflect.Value) error {
	if s.raw {
		from := len(d.out)
		err := d.value()
		v.SetBytes(d.out[from:len(d.out):len(d.out)])
		return err
	}
	switch s.kind {
	case reflect.Struct:
		return d.structure(s, v)
	case reflect.Slice:
		return d.slice(s, v)
	case reflect.Pointer:
		return d.pointer(s, v)
	case reflect.String:
		return d.string(v)
	case reflect.Bool:
		return d.bool(v)
	case reflect.Int, reflect.Int64:
		return d.integer(v)
	}
	return fmt.Errorf("the protocol has no values of kind %s", s.kind)
}

func (d *decoder) structure(s *shape, v reflect.Value) error {
	if err := d.enter('{'); err != nil {
		return err
	}
	var seen uint64
	for first := true; ; first = false {
		more, err := d.more('}', first)
		if err != nil || !more {
			return err
		}
		key, err := d.unquoted()
		if err != nil {
			return err
		}
		i, known := s.fields[string(key)]
		switch {
		case !known:
			return fmt.Errorf("the key %.50q is unknown", key)
		case seen&(1<<i) != 0:
			return fmt.Errorf("the key %q comes twice", key)
		}
		seen |= 1 << i
		if err := d.expect(':'); err != nil {
			return err
		}
		f := &s.list[i]
		if err := d.into(f.shape, v.FieldByIndex(f.index)); err != nil {
			return err
		}
	}
}

func (d *decoder) slice(s *shape, v reflect.Value) error {
	if d.peek() == 'n' {
		return d.null()
	}
	if err := d.enter('['); err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0)) // an empty list is not nil
	for n := 0; ; n++ {
		more, err := d.more(']', n == 0)
		if err != nil || !more {
			return err
		}
		if d.room -= int(v.Type().Elem().Size()); d.room < 0 {
			return errors.New("its lists are longer than any program could make them")
		}
		if n == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(n + 1)
		if err := d.into(s.elem, v.Index(n)); err != nil {
			return err
		}
	}
}

func (d *decoder) pointer(s *shape, v reflect.Value) error {
	if d.peek() == 'n' {
		return d.null()
	}
	v.Set(reflect.New(v.Type().Elem()))
	return d.into(s.elem, v.Elem())
}

// null reads the null of a slice or pointer.
func (d *decoder) null() error {
	from := len(d.out)
	err := d.word("null")
	d.out = d.out[:from]
	return err
}

func (d *decoder) string(v reflect.Value) error {
	text, err := d.unquoted()
	v.SetString(string(text))
	return err
}

func (d *decoder) bool(v reflect.Value) error {
	from := len(d.out)
	word := "false"
	if d.peek() == 't' {
		word = "true"
	}
	err := d.word(word)
	d.out = d.out[:from]
	v.SetBool(word == "true")
	return err
}

func (d *decoder) integer(v reflect.Value) error {
	from := len(d.out)
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		return d.unexpected()
	}
	if err := d.number(); err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(d.out[from:]), 10, v.Type().Bits())
	if err != nil {
		return fmt.Errorf("%.50s is not a whole number of %d bits", d.out[from:], v.Type().Bits())
	}
	d.out = d.out[:from]
	v.SetInt(n)
	return nil
}
