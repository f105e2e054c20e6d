package convert

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

const (
	// maxMeasured bounds the values that are examined for one list, and maxEach for one
	// variable.
	maxMeasured, maxEach = 40_000, 10_000
	// maxMeasureDepth bounds the depth to which a value is examined.
	maxMeasureDepth = 100
)

// Intrinsics are built-in functions as they were before the programs of a session, which
// may replace them.
type Intrinsics struct {
	vm               *goja.Runtime
	objects          *goja.Object // Object.prototype
	descriptor       goja.Callable
	mapSize, mapEach goja.Callable
	setSize, setEach goja.Callable
}

// NewIntrinsics returns the intrinsics of a VM in which no program has run.
func NewIntrinsics(vm *goja.Runtime) *Intrinsics {
	object := vm.Get("Object").ToObject(vm)
	n := &Intrinsics{vm: vm, objects: object.Get("prototype").ToObject(vm)}
	n.descriptor, _ = goja.AssertFunction(object.Get("getOwnPropertyDescriptor"))
	n.mapSize, n.mapEach = n.collection("Map")
	n.setSize, n.setEach = n.collection("Set")
	return n
}

// collection returns the getter of size and the method forEach.
func (n *Intrinsics) collection(class string) (size, each goja.Callable) {
	prototype := n.vm.Get(class).ToObject(n.vm).Get("prototype").ToObject(n.vm)
	d, err := n.descriptor(goja.Undefined(), prototype, n.vm.ToValue("size"))
	if err != nil {
		panic(err) // nothing has run yet
	}
	size, _ = goja.AssertFunction(d.ToObject(n.vm).Get("get"))
	each, _ = goja.AssertFunction(prototype.Get("forEach"))
	return size, each
}

// tampered reports whether creating a property descriptor could run code of a program.
func (n *Intrinsics) tampered() bool {
	return n.objects.Prototype() != nil || slices.ContainsFunc(n.objects.GetOwnPropertyNames(), func(name string) bool {
		return slices.Contains([]string{"value", "writable", "get", "set", "enumerable", "configurable"}, name)
	})
}

// Measure returns a measurer for a list of variables.
func (n *Intrinsics) Measure() *Measurer {
	if n.tampered() {
		return &Measurer{Intrinsics: n}
	}
	return &Measurer{Intrinsics: n, total: maxMeasured}
}

// Measurer examines values without running any code of programs.
type Measurer struct {
	*Intrinsics
	total, left int // values that may still be examined for the list and for the variable
	path        []*goja.Object
}

// Variable describes a variable and its value for the list of a session's variables.
func (m *Measurer) Variable(name string, value goja.Value) engine.Variable {
	v := engine.Variable{Name: name, Kind: kindOf(value)}
	object, _ := value.(*goja.Object)
	m.left = min(m.total, maxEach)
	m.total -= m.left
	defer func() { m.total += m.left }() // what was exceeded is deducted from the rest
	switch v.Kind {
	case "text":
		v.Count = value.(goja.String).Length()
	case "array":
		v.Count = m.length(object)
		m.items(object, &v)
	case "Map":
		v.Count = m.size(object, m.mapSize)
	case "Set":
		v.Count = m.size(object, m.setSize)
	case "object":
		keys, _ := m.keys(object)
		v.Count, v.Keys = len(keys), firstKeys(keys)
	}
	if object == nil {
		return v
	}
	if size, measured := m.bytes(value); measured {
		v.Bytes = size
	}
	return v
}

// items sets the fields of an array.
func (m *Measurer) items(array *goja.Object, v *engine.Variable) {
	first, ok := m.property(array, "0")
	if !ok || v.Count == 0 {
		return
	}
	if object, isObject := first.(*goja.Object); isObject {
		keys, _ := m.keys(object)
		v.Keys = firstKeys(keys)
	}
	if v.Count > m.left {
		return
	}
	for i := 1; i < v.Count; i++ {
		if item, ok := m.property(array, strconv.Itoa(i)); !ok || kindOf(item) != kindOf(first) {
			return
		}
	}
	v.Of = kindOf(first)
}

// keys returns the keys of a plain object, each of which counts as an examined value.
func (m *Measurer) keys(o *goja.Object) ([]string, bool) {
	if m.left <= 0 || !plainObject(o) {
		return nil, false
	}
	keys := o.Keys()
	m.left -= len(keys)
	return keys, true
}

// firstKeys returns the keys to list.
func firstKeys(keys []string) []string {
	keys = keys[:min(len(keys), engine.MaxKeys)]
	return slices.DeleteFunc(keys, func(key string) bool { return len(key) > engine.MaxName })
}

// property returns the value of an own property that is not an accessor.
func (m *Measurer) property(o *goja.Object, name string) (goja.Value, bool) {
	if m.left <= 0 {
		return nil, false
	}
	m.left--
	d, err := m.descriptor(goja.Undefined(), o, m.vm.ToValue(name))
	if err != nil {
		return nil, false
	}
	descriptor, ok := d.(*goja.Object)
	if !ok {
		return goja.Undefined(), true // a hole in an array
	}
	v := descriptor.Get("value")
	return v, v != nil
}

// bytes returns the approximate length of a value as JSON, or false if that is unknown.
func (m *Measurer) bytes(value goja.Value) (int, bool) {
	if goja.IsBigInt(value) {
		return 0, false // it has no JSON form, and converting it may take long
	}
	object, ok := value.(*goja.Object)
	if !ok {
		if text, isText := value.(goja.String); isText {
			return text.Length() + 2, true
		}
		return len(value.String()), true
	}
	if len(m.path) == maxMeasureDepth || slices.Contains(m.path, object) {
		return 0, false
	}
	m.path = append(m.path, object)
	defer func() { m.path = m.path[:len(m.path)-1] }()
	switch kind := kindOf(value); {
	case kind == "array" && object.ClassName() == "Array":
		return m.sum(m.length(object), func(i int) (string, int) { return strconv.Itoa(i), 1 }, object)
	case kind == "object" && plainObject(object):
		keys, ok := m.keys(object)
		if !ok {
			return 0, false
		}
		return m.sum(len(keys), func(i int) (string, int) { return keys[i], len(keys[i]) + 4 }, object)
	case kind == "Map" && m.size(object, m.mapSize) <= m.left:
		return m.each(object, m.mapEach)
	case kind == "Set" && m.size(object, m.setSize) <= m.left:
		return m.each(object, m.setEach)
	case kind == "Date":
		return len(`"2006-01-02T15:04:05.000Z"`), true
	case kind == "function":
		return 0, true
	}
	return 0, false
}

// sum adds up n properties. property returns the name of each, and the length of what
// precedes its value.
func (m *Measurer) sum(n int, property func(int) (string, int), o *goja.Object) (int, bool) {
	if n > m.left {
		return 0, false
	}
	total := 2
	for i := range n {
		name, before := property(i)
		v, ok := m.property(o, name)
		if !ok {
			return 0, false
		}
		size, ok := m.bytes(v)
		if !ok {
			return 0, false
		}
		total += size + before
	}
	return total, true
}

// each adds up the keys and values of a Map, or the members of a Set.
func (m *Measurer) each(o *goja.Object, forEach goja.Callable) (total int, all bool) {
	total, all = 2, true
	add := func(v goja.Value) {
		if !all {
			return
		}
		m.left--
		size, ok := m.bytes(v)
		total += size + 1
		all = ok && m.left > 0
	}
	visit := m.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		add(c.Argument(0))
		if key := c.Argument(1); !key.SameAs(c.Argument(0)) {
			add(key)
		}
		return goja.Undefined()
	})
	_, err := forEach(o, visit)
	return total, all && err == nil
}

func (m *Measurer) size(o *goja.Object, getter goja.Callable) int {
	if v, err := getter(o); err == nil {
		return int(v.ToInteger())
	}
	return 0
}

// length returns the length of an array or a typed array.
func (m *Measurer) length(o *goja.Object) int {
	if o.ClassName() == "Array" {
		return int(o.Get("length").ToInteger())
	}
	if list := reflect.ValueOf(o.Export()); list.Kind() == reflect.Slice {
		return list.Len()
	}
	return 0
}

// plainObject reports whether listing the properties of an object runs no code: it is not a
// proxy, and its properties are not created on demand.
func plainObject(o *goja.Object) bool {
	return o.ExportType() == reflect.TypeFor[map[string]any]()
}

// kindOf returns the kind of a value. A proxy is an object.
func kindOf(v goja.Value) string {
	object, isObject := v.(*goja.Object)
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	case !isObject:
		return primitiveKind(v)
	case object.ExportType() == typeOfProxy:
		return "object"
	}
	switch class := ClassOf(object); class {
	case "Array":
		return "array"
	case "Function":
		return "function"
	case "Map", "Set", "Date", "RegExp", "Error", "Promise":
		return class
	}
	return "object"
}

func primitiveKind(v goja.Value) string {
	switch v.(type) {
	case goja.String:
		return "text"
	case *goja.Symbol:
		return "symbol"
	}
	switch {
	case goja.IsNumber(v):
		return "number"
	case goja.IsBigInt(v):
		return "bigint"
	}
	return "boolean"
}
