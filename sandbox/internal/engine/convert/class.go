// Package convert converts between JSON and a VM's values, and describes values for messages and for the console.
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

// ClassOf returns the kind of an object. Typed arrays count as arrays. goja reports the class Object for a Map, a Set
// and other objects, so ClassOf examines the export type.
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

// classOfProxy returns "Array" for a proxy of an array, as Array.isArray does, and otherwise "Object".
func classOfProxy(o *goja.Object) string {
	for range engine.MaxDepth {
		p, ok := o.Export().(goja.Proxy)
		if !ok || p.Target() == nil { // the proxy was revoked, so reading its members throws
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

// CloneKind returns the kind of an object for structuredClone.
func CloneKind(o *goja.Object) string {
	switch t := o.ExportType(); {
	case t == typeOfProxy: // other engines cannot clone a proxy either
		return "Proxy"
	case t == typeOfArrayBuffer:
		return "ArrayBuffer"
	case o.ClassName() == "Array" || o.ClassName() == "Arguments":
		return o.ClassName()
	default:
		return ClassOf(o)
	}
}
