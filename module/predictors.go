package module

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Predictors yields the predictors of a module, or of any struct of modules, with their paths: the fields,
// indices and keys that lead to them. A field named Predictor is left out of the path, unless it is the whole
// path.
//
//	type Helpdesk struct {
//		Sort  *module.Predict[Mail, Topic]
//		Reply map[string]*module.ChainOfThought[Mail, Letter]
//	}
//
// has the predictors Sort, Reply[billing] and Reply[orders].
//
// They come in the order of the fields and of the sorted keys. Each comes once, under its first path. Predictors
// looks in exported fields, through pointers, interfaces, structs, slices, arrays, and maps with keys that are
// strings. So a module of yours must keep its modules in exported fields, and must not change them during the
// iteration.
func Predictors(m any) iter.Seq2[string, *Predictor] {
	return func(yield func(string, *Predictor) bool) {
		newSearch(yield).value("", reflect.ValueOf(m))
	}
}

// search is one walk through a module. Its methods return false when the walk is over.
type search struct {
	yield func(string, *Predictor) bool
	seen  map[reference]bool
	leads map[reflect.Type]bool // the results of mayLead
}

func newSearch(yield func(string, *Predictor) bool) *search {
	return &search{yield, map[reference]bool{}, map[reflect.Type]bool{}}
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
		if p, ok := v.Interface().(*Predictor); ok {
			return s.yield(cmp.Or(path, ownField), p)
		}
		return s.value(path, v.Elem())
	case reflect.Interface:
		return s.value(path, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if accessible(f) && !s.value(join(path, f), v.Field(i)) {
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

// ownField is the name of the field that is left out of paths.
const ownField = "Predictor"

func join(path string, f reflect.StructField) string {
	if f.Name == ownField && f.Type == predictorType {
		return path
	}
	return strings.TrimPrefix(path+"."+f.Name, ".")
}

// accessible reports whether a field is exported or embeds a struct, which may have exported fields.
func accessible(f reflect.StructField) bool {
	return f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct
}

// sortedKeys returns the keys of a map with keys that are strings.
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

var predictorType = reflect.TypeFor[*Predictor]()

// mayLead reports whether a value of a type may hold a predictor. It keeps the search out of data.
func (s *search) mayLead(t reflect.Type) bool {
	leads, known := s.leads[t]
	if !known {
		leads = mayLead(t, map[reflect.Type]bool{})
		s.leads[t] = leads
	}
	return leads
}

func mayLead(t reflect.Type, outer map[reflect.Type]bool) bool {
	switch {
	case t == predictorType || t.Kind() == reflect.Interface:
		return true
	case t == predictorType.Elem() || outer[t]:
		return false
	}
	outer[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return mayLead(t.Elem(), outer)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && mayLead(t.Elem(), outer)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); accessible(f) && mayLead(f.Type, outer) {
				return true
			}
		}
	}
	return false
}

// Clone returns a copy of a module, or of any struct of modules, whose Predictors can be changed without changing
// those of m. It copies what leads to Predictors, as described at [Predictors]. Everything else is shared, such
// as models, sandboxes, sets of tools, and what unexported fields point to. Predictors and modules that are
// shared within m are shared within the copy.
//
// Structs are copied as by an assignment. A struct with a lock must keep it behind a pointer.
func Clone[M any](m M) M {
	return cloned(newCloning(), m)
}

func cloned[M any](c *cloning, m M) M {
	c.replace(reflect.ValueOf(&m).Elem())
	return m
}

// cloning makes one clone.
type cloning struct {
	made       map[reference]reflect.Value // the copies
	uncopyable error                       // why the copy cannot make attempts
}

func newCloning() *cloning { return &cloning{made: map[reference]reflect.Value{}} }

// replace replaces everything in v that leads to predictors by copies.
func (c *cloning) replace(v reflect.Value) {
	found := false
	newSearch(func(string, *Predictor) bool { found = true; return false }).value("", v)
	if !found {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		v.Set(c.copyOf(v.Elem()))
	case reflect.Struct:
		c.checkLocks(v.Type())
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
	if p, ok := v.Interface().(*Predictor); ok {
		c.made[r] = reflect.ValueOf(p.Clone())
		return c.made[r]
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

// checkLocks refuses attempts with copies of a struct that has its own lock for what it shares, or that would
// continue the same conversation.
func (c *cloning) checkLocks(t reflect.Type) {
	if c.uncopyable != nil {
		return
	}
	if f, ok := t.FieldByName("history"); ok && f.Type == reflect.TypeFor[*chatHistory]() {
		c.uncopyable = errors.New("module: a Chat cannot make attempts, since all of them would be turns of one " +
			"conversation; use a CodeAct")
	} else if lock := lockIn(t); lock != nil {
		c.uncopyable = fmt.Errorf("module: %v holds a %v, so attempts cannot be made with copies of it; "+
			"keep it behind a pointer", t, lock)
	}
}

var lockerType = reflect.TypeFor[sync.Locker]()

// lockIn returns the type of a part that must not be copied, by the rules of go vet: a type with a method Lock,
// or a struct with a field noCopy.
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
