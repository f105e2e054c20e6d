package convert

import (
	"reflect"
	"slices"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// maxMeasured is the maximum number of keys and elements that are examined for one variable list.
const maxMeasured = 40_000

// Intrinsics are a VM's built-in functions, saved before any program of the session has run. Programs may replace the
// VM's functions.
type Intrinsics struct {
	vm               *goja.Runtime
	objects          *goja.Object // Object.prototype
	descriptor       goja.Callable
	mapSize, setSize goja.Callable
}

// NewIntrinsics returns the intrinsics of a VM in which no program has run.
func NewIntrinsics(vm *goja.Runtime) *Intrinsics {
	object := vm.Get("Object").ToObject(vm)
	n := &Intrinsics{vm: vm, objects: object.Get("prototype").ToObject(vm)}
	n.descriptor, _ = goja.AssertFunction(object.Get("getOwnPropertyDescriptor"))
	n.mapSize, n.setSize = n.sizeOf("Map"), n.sizeOf("Set")
	return n
}

// sizeOf returns the getter of a class's size property.
func (n *Intrinsics) sizeOf(class string) goja.Callable {
	prototype := n.vm.Get(class).ToObject(n.vm).Get("prototype")
	d, err := n.descriptor(goja.Undefined(), prototype, n.vm.ToValue("size"))
	if err != nil {
		panic(err) // impossible: no program has run
	}
	size, _ := goja.AssertFunction(d.ToObject(n.vm).Get("get"))
	return size
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
	return &Measurer{Intrinsics: n, left: maxMeasured}
}

// Measurer examines values without running any code of programs.
type Measurer struct {
	*Intrinsics
	left int // number of keys and elements that may still be examined
}

// Variable describes a variable and its value for a session's variable list.
func (m *Measurer) Variable(name string, value goja.Value) engine.Variable {
	v := engine.Variable{Name: name, Kind: kindOf(value)}
	object, _ := value.(*goja.Object)
	switch v.Kind {
	case "text":
		v.Count = value.(goja.String).Length()
	case "array":
		v.Count = m.length(object)
		if first, ok := m.first(object).(*goja.Object); ok {
			_, v.Keys = m.keys(first)
		}
	case "Map":
		v.Count = m.size(object, m.mapSize)
	case "Set":
		v.Count = m.size(object, m.setSize)
	case "object":
		v.Count, v.Keys = m.keys(object)
	}
	return v
}

// keys returns the number of keys in a plain object, and the keys to list.
func (m *Measurer) keys(o *goja.Object) (int, []string) {
	if m.left <= 0 || !plainObject(o) {
		return 0, nil
	}
	keys := o.Keys()
	m.left -= len(keys)
	return len(keys), slices.DeleteFunc(keys[:min(len(keys), engine.MaxKeys)], func(key string) bool {
		return len(key) > engine.MaxName
	})
}

// first returns the first element of an array, or nil if it cannot be read without running code.
func (m *Measurer) first(array *goja.Object) goja.Value {
	if m.left <= 0 {
		return nil
	}
	m.left--
	d, err := m.descriptor(goja.Undefined(), array, m.vm.ToValue("0"))
	if descriptor, ok := d.(*goja.Object); ok && err == nil {
		return descriptor.Get("value") // nil if the element has a getter
	}
	return nil
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

// plainObject reports whether listing an object's properties runs no code: it is not a proxy, and its properties are
// not created on demand.
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
