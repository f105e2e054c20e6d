package convert

import (
	"math/big"
	"reflect"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

var (
	typeOfProxy   = reflect.TypeFor[goja.Proxy]()
	typeOfBigInt  = reflect.TypeFor[*big.Int]()
	typeOfMap     = reflect.TypeFor[[][2]any]()
	typeOfSet     = reflect.TypeFor[[]any]()
	typeOfPromise = reflect.TypeFor[*goja.Promise]()

	typeOfArrayBuffer = reflect.TypeFor[goja.ArrayBuffer]()
)

// ClassOf names the kind of an object; typed arrays count as arrays. goja calls
// a Map and a Set plain objects, but exports them as what they are.
func ClassOf(o *goja.Object) string {
	class := o.ClassName()
	if class != "Object" {
		return class
	}
	switch t := o.ExportType(); {
	case t == typeOfProxy:
		return classOfProxy(o)
	case t == typeOfBigInt:
		return "BigInt"
	case t == typeOfMap:
		return "Map"
	case t == typeOfSet:
		return "Set"
	case t == typeOfPromise:
		return "Promise"
	case t.Kind() == reflect.Slice:
		return "Array"
	}
	return class
}

// classOfProxy is "Array" for a proxy of an array, of which Array.isArray says that
// it is one; other proxies are plain objects.
func classOfProxy(o *goja.Object) string {
	for range engine.MaxDepth {
		p, ok := o.Export().(goja.Proxy)
		if !ok || p.Target() == nil { // it was revoked: whoever reads it will hear
			break
		}
		if o = p.Target(); o.ExportType() != typeOfProxy {
			if o.ClassName() == "Array" {
				return "Array"
			}
			break
		}
	}
	return "Object"
}

// CloneKind names what an object is to structuredClone.
func CloneKind(o *goja.Object) string {
	switch t := o.ExportType(); {
	case t == typeOfProxy: // other engines don't clone proxies either
		return "Proxy"
	case t == typeOfArrayBuffer:
		return "ArrayBuffer"
	case o.ClassName() == "Array" || o.ClassName() == "Arguments":
		return o.ClassName()
	default:
		return ClassOf(o)
	}
}
