package tools

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// reserved contains the names that a global of a program must not have: reserved words of
// JavaScript, standard globals (also those that the engine lacks), globals of the engine,
// properties that every object inherits, and names of the sandbox.
var reserved = words(`
	arguments await break case catch class const continue debugger default delete do else enum eval
	export extends false finally for function if implements import in instanceof interface let new
	null package private protected public return static super switch this throw true try typeof
	undefined var void while with yield NaN Infinity async

	globalThis AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array
	Boolean Buffer DataView Date Error EvalError FinalizationRegistry Float16Array Float32Array
	Float64Array Function GoError Int16Array Int32Array Int8Array Intl Iterator JSON Map Math
	Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer
	String Symbol SyntaxError Temporal TypeError URIError URL Uint16Array Uint32Array Uint8Array
	Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI
	encodeURIComponent escape unescape fetch isFinite isNaN parseFloat parseInt process
	queueMicrotask require structuredClone setTimeout clearTimeout setInterval clearInterval
	atob btoa URLSearchParams

	__proto__ constructor prototype toString toLocaleString valueOf hasOwnProperty isPrototypeOf
	propertyIsEnumerable __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__

	console crypto sleep submit tools ToolError`)

// implicit contains the names of members that JavaScript itself calls: in await, in
// JSON.stringify and when it converts an object to a string. No tool may have them, since a
// program that prints a namespace must not call a tool.
var implicit = names{"__proto__": 1, "then": 1, "toJSON": 1, "toString": 1, "valueOf": 1}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// Reserved reports whether a global function or namespace of a program must not have this
// name.
func Reserved(name string) bool { return reserved[name] }

// precedence orders names. Names that need not be changed come first.
func precedence(a, b string) int {
	fits := func(name string) int {
		if jsonvalue.IsIdentifier(name) && !Reserved(name) {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(fits(a), fits(b)), cmp.Compare(a, b))
}

// names are the names in use in one scope, each with the last number that was appended to it
// to make another name.
type names map[string]int

// claim marks name as used and returns it. If it is in use, claim appends the first number
// that makes it unique.
func (n names) claim(name string) string {
	free := name
	for n[free] > 0 {
		n[name]++
		free = fmt.Sprintf("%s_%d", name, n[name])
	}
	n[free] = 1
	return free
}
