package module

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Predictors yields the predictors of a module, or of any struct of modules,
// each with its path: the fields, indices and keys that lead to it. A field that
// is called Predictor is left out of the path, unless it is all of it.
//
//	type Helpdesk struct {
//		Sort  *module.Predict[Mail, Topic]
//		Reply map[string]*module.ChainOfThought[Mail, Letter]
//	}
//
// has the predictors Sort, Reply[billing] and Reply[orders].
//
// They come in the order of the fields and of the sorted keys, and each comes
// once, under its first path. Looked for they are in exported fields, through
// pointers, interfaces, structs, slices, arrays and maps with keys that are
// strings. So a module of yours keeps its modules in exported fields, which must
// not be changed meanwhile.
func Predictors(m any) iter.Seq2[string, *Predictor] {
	return func(yield func(string, *Predictor) bool) {
		newSearch(yield).value("", reflect.ValueOf(m))
	}
}

// search is one walk through a module. Its methods return false if it is over.
type search struct {
	yield func(string, *Predictor) bool
	seen  map[reference]bool
	leads map[reflect.Type]bool
}

func newSearch(yield func(string, *Predictor) bool) *search {
	return &search{yield, map[reference]bool{}, map[reflect.Type]bool{}}
}

// reference is what tells one pointer, slice or map from another.
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
	if !v.IsValid() || !s.mayLead(v.Type()) || s.again(v) {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer:
		if p, ok := predictorIn(v); ok {
			return s.yield(cmp.Or(path, ownField), p)
		}
		return s.value(path, v.Elem())
	case reflect.Interface:
		return s.value(path, v.Elem())
	case reflect.Struct:
		return s.fields(path, v)
	case reflect.Map:
		return s.entries(path, v)
	default:
		return s.elements(path, v)
	}
}

// again reports whether v was seen before, or is nil.
func (s *search) again(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		r := referenceTo(v)
		seen := v.IsNil() || s.seen[r]
		s.seen[r] = true
		return seen
	}
	return false
}

// ownField is the name of the field that adds nothing to a path.
const ownField = "Predictor"

func (s *search) fields(path string, v reflect.Value) bool {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !open(f) {
			continue
		}
		to := strings.TrimPrefix(path+"."+f.Name, ".")
		if f.Name == ownField && f.Type == predictorType {
			to = path
		}
		if !s.value(to, v.Field(i)) {
			return false
		}
	}
	return true
}

// open reports whether a field can be read and set: it is exported, or a struct
// that is embedded for its exported fields.
func open(f reflect.StructField) bool {
	return f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct
}

func (s *search) elements(path string, v reflect.Value) bool {
	for i := range v.Len() {
		if !s.value(fmt.Sprintf("%s[%d]", path, i), v.Index(i)) {
			return false
		}
	}
	return true
}

func (s *search) entries(path string, v reflect.Value) bool {
	for _, key := range sortedKeys(v) {
		if !s.value(path+"["+element(key.String())+"]", v.MapIndex(key)) {
			return false
		}
	}
	return true
}

// sortedKeys are the keys of a map whose keys are strings.
func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	return keys
}

var plainKey = regexp.MustCompile(`^[\p{L}\p{N}_./ -]+$`)

// element writes a key so that it ends where the path says.
func element(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return strconv.Quote(key)
}

var predictorType = reflect.TypeFor[*Predictor]()

func predictorIn(v reflect.Value) (*Predictor, bool) {
	if v.Type() != predictorType {
		return nil, false
	}
	return v.Interface().(*Predictor), true
}

// mayLead reports whether a value of a type may hold a predictor, so that data
// is not looked through.
func (s *search) mayLead(t reflect.Type) bool {
	leads, known := s.leads[t]
	if !known {
		leads = mayLead(t, map[reflect.Type]bool{})
		s.leads[t] = leads
	}
	return leads
}

func mayLead(t reflect.Type, under map[reflect.Type]bool) bool {
	switch {
	case t == predictorType || t.Kind() == reflect.Interface:
		return true
	case t == predictorType.Elem() || under[t]:
		return false
	}
	under[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return mayLead(t.Elem(), under)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && mayLead(t.Elem(), under)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); open(f) && mayLead(f.Type, under) {
				return true
			}
		}
	}
	return false
}
