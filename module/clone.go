package module

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// Clone returns a copy of a module, or of any struct of modules, with Predictors
// of its own: those can be changed without changing m's. What leads to them, as
// [Predictors] says, is copied; everything else is shared, such as models,
// sandboxes, sets of tools, and what is behind pointers in unexported fields.
// Predictors and modules that are shared within m are so within the copy.
//
// Structs are copied as by an assignment. One that must not be, since it holds a
// lock, keeps it behind a pointer.
func Clone[M any](m M) M {
	return cloned(newCloning(), m)
}

func cloned[M any](c *cloning, m M) M {
	c.renew(reflect.ValueOf(&m).Elem())
	return m
}

// cloning is the making of one clone.
type cloning struct {
	made  map[reference]reflect.Value
	locks error // why attempts cannot be made with the copy
}

func newCloning() *cloning { return &cloning{made: map[reference]reflect.Value{}} }

// renew puts copies in the place of what leads to predictors.
func (c *cloning) renew(v reflect.Value) {
	if !reaches(v) {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		v.Set(c.renewed(v.Elem()))
	case reflect.Struct:
		c.checkLocks(v.Type())
		for i := range v.NumField() {
			if open(v.Type().Field(i)) {
				c.renew(v.Field(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			c.renew(v.Index(i))
		}
	default:
		v.Set(c.copied(v))
	}
}

// renewed returns a copy of a value that cannot be changed where it is.
func (c *cloning) renewed(v reflect.Value) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	c.renew(n)
	return n
}

// copied returns the copy of a pointer, slice or map, the same one every time.
func (c *cloning) copied(v reflect.Value) reflect.Value {
	r := referenceTo(v)
	if n, made := c.made[r]; made {
		return n
	}
	if p, ok := predictorIn(v); ok {
		c.made[r] = reflect.ValueOf(p.Clone())
		return c.made[r]
	}
	switch v.Kind() {
	case reflect.Pointer:
		n := reflect.New(v.Type().Elem())
		c.made[r] = n.Convert(v.Type())
		n.Elem().Set(v.Elem())
		c.renew(n.Elem())
	case reflect.Slice:
		n := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		c.made[r] = n
		reflect.Copy(n, v)
		for i := range n.Len() {
			c.renew(n.Index(i))
		}
	default:
		n := reflect.MakeMapWithSize(v.Type(), v.Len())
		c.made[r] = n
		for _, key := range sortedKeys(v) {
			n.SetMapIndex(key, c.renewed(v.MapIndex(key)))
		}
	}
	return c.made[r]
}

// reaches reports whether there is a predictor in v.
func reaches(v reflect.Value) bool {
	found := false
	newSearch(func(string, *Predictor) bool { found = true; return false }).value("", v)
	return found
}

// checkLocks notes a struct whose copy would have a lock of its own for what it
// shares, or would continue the same conversation.
func (c *cloning) checkLocks(t reflect.Type) {
	if field, ok := t.FieldByName("talk"); ok && field.Type == reflect.TypeFor[*talk]() && c.locks == nil {
		c.locks = errors.New(
			"module: a Chat cannot make attempts, which would all be turns of one conversation; use a CodeAct")
	}
	if held := lockIn(t); held != nil && c.locks == nil {
		c.locks = fmt.Errorf("module: %v holds a %v, so attempts cannot be made with copies of it; keep that behind a pointer", t, held)
	}
}

var lockerType = reflect.TypeFor[sync.Locker]()

// lockIn returns the type of a part that must not be copied, as go vet has it:
// one with a method Lock, or with the field by which it says so.
func lockIn(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Array:
		return lockIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			switch part := t.Field(i).Type; {
			case part.Name() == "noCopy":
				return t
			case part.Kind() != reflect.Interface && reflect.PointerTo(part).Implements(lockerType):
				return part
			default:
				if held := lockIn(part); held != nil {
					return held
				}
			}
		}
	}
	return nil
}
