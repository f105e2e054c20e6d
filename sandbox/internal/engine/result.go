package engine

// PromiseMisuse is the promise of a tool call that was never awaited, or a promise that was used
// as if it were its value.
type PromiseMisuse struct {
	Use     string `json:"use"`               // how the promise was used, or Dropped
	Tool    int    `json:"tool"`              // index into Job.Tools; -1 if no tool returned the promise
	Call    Pos    `json:"call"`              // the call that returned the promise; the zero Pos if no call did
	Calls   int    `json:"calls,omitempty"`   // for Dropped: the number of calls here that were never awaited
	Awaited bool   `json:"awaited,omitempty"` // the program awaits the promise elsewhere
	Pos            // the use of the promise, or for Dropped the call
}

// Uses of promises.
const (
	Dropped   = "dropped"   // never awaited
	Printed   = "printed"   // printed by the console
	Converted = "converted" // converted to a string or a number
	Written   = "written"   // written as JSON by JSON.stringify
	Read      = "read"      // the program read a member that promises do not have, or iterated over the promise
)

// Miss is a read of a member that does not exist, either in an object in a tool's result or in a string.
type Miss struct {
	Tool   string `json:"tool,omitempty"`   // its path; "" for a string that is not a tool's whole result
	Path   string `json:"path,omitempty"`   // the path of the object in the result, such as .rows[]
	Member string `json:"member,omitempty"` // "" if the object was converted to a number or a string
	Text   bool   `json:"text,omitempty"`   // a string's member was read
	Pos
}

// MaxMisses is the maximum number of misses that one run reports.
const MaxMisses = 100

// Variable is a top-level declaration that a session's program left for later programs.
type Variable struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Count int      `json:"count,omitempty"` // items, keys, or characters
	Keys  []string `json:"keys,omitempty"`  // an object's keys, or those of the first object in an array
}

// Kinds of variables.
var Kinds = []string{
	"array", "object", "text", "number", "boolean", "bigint", "null", "undefined", "function", "symbol",
	"Map", "Set", "Date", "RegExp", "Error", "Promise",
}

const (
	// MaxVariables is the maximum number of variables in a list. The oldest variables are left out.
	MaxVariables = 1000
	// MaxKeys is the maximum number of keys that are listed for one variable.
	MaxKeys = 10
	// MaxName is the maximum size in bytes of a name or a key that is listed.
	MaxName = 100
)
