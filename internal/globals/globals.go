// Package globals has the names that programs, tools and inputs must not use for globals.
package globals

import "strings"

// Tools is the namespace of the tools that Writ itself gives to programs, such as tools.search. Policies do not
// apply to these tools.
const Tools = "tools"

// reserved contains the names that a global of a program must not have: reserved words of JavaScript, standard globals
// (also those that the engine lacks), the engine's globals, properties that every object inherits, and the sandbox's
// names.
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
