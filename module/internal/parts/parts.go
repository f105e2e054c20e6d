// Package parts finds and copies the parts of a value that have a certain type, such as the predictors of a module. It
// reaches them through exported fields, pointers, interfaces, structs, slices, arrays, and maps with string keys.
package parts

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// All yields the pointers to T in m that are not nil, with their paths: the fields, indices and keys that lead to them.
// A field of type *T that is named after T is left out of the path, unless it is the whole path. All yields each
// pointer once, with its first path. After m, it searches the result of inside for each pointer.
func All[T, I any](m any, inside func(*T) *I) iter.Seq2[string, *T] {
	leaf := reflect.TypeFor[*T]()
	type place struct {
		path string
		v    reflect.Value
	}
	return func(yield func(string, *T) bool) {
		places := []place{{"", reflect.ValueOf(m)}}
		s := newSearch(leaf, func(path string, v reflect.Value) bool {
			part := v.Interface().(*T)
			places = append(places, place{path, reflect.ValueOf(inside(part))})
			return yield(cmp.Or(path, leaf.Elem().Name()), part)
		})
		for more := true; more && len(places) > 0; {
			next := places[0]
			places = places[1:]
			more = s.value(next.path, next.v)
		}
	}
}

// Clone returns a copy of m in which every pointer to T is replaced by the result of clone. Clone copies the values
// that lead to such pointers and shares all others with m. Values that are shared within m are shared within the copy.
// In each result of clone, the value to which inside points is also replaced by a copy. If check is not nil, it is
// called with the type of every copied struct; Clone returns its first error.
func Clone[M, T, I any](m M, clone func(*T) *T, inside func(*T) *I, check func(reflect.Type) error) (M, error) {
	c := &cloning{leaf: reflect.TypeFor[*T](), check: check, made: map[reference]reflect.Value{}}
	c.clone = func(v reflect.Value) (copied, within reflect.Value) {
		part := clone(v.Interface().(*T))
		return reflect.ValueOf(part), reflect.ValueOf(inside(part)).Elem()
	}
	c.replace(reflect.ValueOf(&m).Elem())
	return m, c.err
}

// search is one walk through a module. Its methods return false when the walk is over.
type search struct {
	leaf  reflect.Type // the type *T
	yield func(string, reflect.Value) bool
	seen  map[reference]bool
	leads map[reflect.Type]bool // the results of mayLead
}

func newSearch(leaf reflect.Type, yield func(string, reflect.Value) bool) *search {
	return &search{leaf, yield, map[reference]bool{}, map[reflect.Type]bool{}}
}

// reference identifies a pointer, slice or map.
type reference struct {
	of       reflect.Type
	at       uintptr
	elements int
}

func referenceTo(v reflect.Value) reference {
	r := reference{of: v.Type(), at: v.Pointer()}
	if v.Kind() == reflect.Slice {
		r.elements = v.Len()
	}
	return r
}

func (s *search) value(path string, v reflect.Value) bool {
	if !v.IsValid() || !s.mayLead(v.Type()) || s.visited(v) {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() == s.leaf {
			return s.yield(path, v)
		}
		return s.value(path, v.Elem())
	case reflect.Interface:
		return s.value(path, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if accessible(f) && !s.value(s.join(path, f), v.Field(i)) {
				return false
			}
		}
	case reflect.Map:
		for _, key := range sortedKeys(v) {
			if !s.value(path+"["+quoteKey(key.String())+"]", v.MapIndex(key)) {
				return false
			}
		}
	default: // slice or array
		for i := range v.Len() {
			if !s.value(fmt.Sprintf("%s[%d]", path, i), v.Index(i)) {
				return false
			}
		}
	}
	return true
}

// visited reports whether v was visited before or is nil.
func (s *search) visited(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		r := referenceTo(v)
		seen := v.IsNil() || s.seen[r]
		s.seen[r] = true
		return seen
	}
	return false
}

func (s *search) join(path string, f reflect.StructField) string {
	if f.Type == s.leaf && f.Name == s.leaf.Elem().Name() {
		return path
	}
	return strings.TrimPrefix(path+"."+f.Name, ".")
}

// accessible reports whether a field is exported or embeds a struct, which may have exported fields.
func accessible(f reflect.StructField) bool {
	return f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct
}

// sortedKeys returns the keys of a map that has strings as keys.
func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	return keys
}

var plainKey = regexp.MustCompile(`^[\p{L}\p{N}_./ -]+$`)

// quoteKey quotes a key with characters that would make a path ambiguous.
func quoteKey(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return strconv.Quote(key)
}

// mayLead reports whether a value of a type may lead to a leaf. The search skips values that may not.
func (s *search) mayLead(t reflect.Type) bool {
	leads, known := s.leads[t]
	if !known {
		leads = s.mayLeadIn(t, map[reflect.Type]bool{})
		s.leads[t] = leads
	}
	return leads
}

func (s *search) mayLeadIn(t reflect.Type, outer map[reflect.Type]bool) bool {
	switch {
	case t == s.leaf || t.Kind() == reflect.Interface:
		return true
	case t == s.leaf.Elem() || outer[t]:
		return false
	}
	outer[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return s.mayLeadIn(t.Elem(), outer)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && s.mayLeadIn(t.Elem(), outer)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); accessible(f) && s.mayLeadIn(f.Type, outer) {
				return true
			}
		}
	}
	return false
}

// cloning makes one clone.
type cloning struct {
	leaf  reflect.Type
	clone func(reflect.Value) (copied, within reflect.Value)
	check func(reflect.Type) error
	made  map[reference]reflect.Value // the copies
	err   error
}

// replace replaces everything in v that leads to leaves with copies.
func (c *cloning) replace(v reflect.Value) {
	found := false
	newSearch(c.leaf, func(string, reflect.Value) bool { found = true; return false }).value("", v)
	if !found {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		v.Set(c.copyOf(v.Elem()))
	case reflect.Struct:
		if c.check != nil && c.err == nil {
			c.err = c.check(v.Type())
		}
		for i := range v.NumField() {
			if accessible(v.Type().Field(i)) {
				c.replace(v.Field(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			c.replace(v.Index(i))
		}
	default:
		v.Set(c.copyReference(v))
	}
}

// copyOf returns the copy of a value that cannot be set.
func (c *cloning) copyOf(v reflect.Value) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	c.replace(n)
	return n
}

// copyReference returns the copy of a pointer, slice or map. It returns the same copy every time.
func (c *cloning) copyReference(v reflect.Value) reflect.Value {
	r := referenceTo(v)
	if n, made := c.made[r]; made {
		return n
	}
	if v.Type() == c.leaf {
		n, within := c.clone(v)
		c.made[r] = n
		c.replace(within)
		return n
	}
	switch v.Kind() {
	case reflect.Pointer:
		n := reflect.New(v.Type().Elem())
		c.made[r] = n.Convert(v.Type())
		n.Elem().Set(v.Elem())
		c.replace(n.Elem())
	case reflect.Slice:
		n := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		c.made[r] = n
		reflect.Copy(n, v)
		for i := range n.Len() {
			c.replace(n.Index(i))
		}
	default: // map
		n := reflect.MakeMapWithSize(v.Type(), v.Len())
		c.made[r] = n
		for _, key := range sortedKeys(v) {
			n.SetMapIndex(key, c.copyOf(v.MapIndex(key)))
		}
	}
	return c.made[r]
}

var lockerType = reflect.TypeFor[sync.Locker]()

// LockIn returns the type of a part that must not be copied, according to go vet: a type with a method Lock, or a
// struct with a field noCopy. It returns nil if all parts may be copied.
func LockIn(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Array:
		return LockIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			switch part := t.Field(i).Type; {
			case part.Name() == "noCopy":
				return t
			case part.Kind() != reflect.Interface && reflect.PointerTo(part).Implements(lockerType):
				return part
			default:
				if held := LockIn(part); held != nil {
					return held
				}
			}
		}
	}
	return nil
}
