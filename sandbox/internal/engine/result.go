package engine

// Stray is a promise of a tool call that nothing has awaited, or a promise that the
// program used as if it were the value.
type Stray struct {
	Use     string `json:"use"`               // how it was used; Dropped if that is not known
	Tool    int    `json:"tool"`              // index into Job.Tools of the call that made the promise; -1 if no call did
	Call    Pos    `json:"call"`              // where the call was made; the zero Pos if none was
	Calls   int    `json:"calls,omitempty"`   // of Dropped: how many calls in this place nothing has awaited
	Awaited bool   `json:"awaited,omitempty"` // the program awaits it elsewhere
	Pos            // where the promise was used; of Dropped, where the call was made
}

// Uses of promises.
const (
	Dropped   = "dropped"   // nothing has awaited it when the program ended
	Printed   = "printed"   // by the console
	Converted = "converted" // to text or a number
	Written   = "written"   // as JSON, by JSON.stringify
)

// Variable is what a program of a session has declared at its top level and has left
// for later programs.
type Variable struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Count int      `json:"count,omitempty"` // items, keys, or characters
	Of    string   `json:"of,omitempty"`    // the kind of an array's items, if all are of one kind
	Keys  []string `json:"keys,omitempty"`  // of an object, or of the first object of an array
	Bytes int      `json:"bytes,omitempty"` // of the value as JSON, about; 0 if it was not measured
}

// Kinds of variables.
var Kinds = []string{
	"array", "object", "text", "number", "boolean", "bigint", "null", "undefined", "function", "symbol",
	"Map", "Set", "Date", "RegExp", "Error", "Promise",
}

const (
	// MaxVariables bounds a list of variables; the newest are listed.
	MaxVariables = 1000
	// MaxKeys bounds the keys of one variable.
	MaxKeys = 10
	// MaxName bounds the names, of variables and of keys, that are listed.
	MaxName = 100
)
