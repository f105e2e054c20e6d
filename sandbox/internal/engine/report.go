package engine

import "encoding/json"

// Pos is a place in the source; both count from 1, columns in UTF-16 units as
// JavaScript tools count them. The zero Pos is unknown.
type Pos struct {
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Report is what the parse found out about a program without running it.
type Report struct {
	Findings   []Finding `json:"findings,omitempty"`   // what the engine itself refuses
	Undeclared []Name    `json:"undeclared,omitempty"` // names that nothing declares, at their first use
	Constants  []Write   `json:"constants,omitempty"`  // inputs and tools to which the program assigns
	Early      []Name    `json:"early,omitempty"`      // variables that are read before they are initialized; Assigned if they hide a tool or input
	Smells     []Finding `json:"smells,omitempty"`     // what may run, but hardly does what is meant
	Sites      []Site    `json:"sites,omitempty"`      // calls of tools
	Forbidden  []Name    `json:"forbidden,omitempty"`  // names that are forbidden
	Depth      int       `json:"depth,omitempty"`      // how deep the source is nested
	NoValue    bool      `json:"noValue,omitempty"`    // nothing says what the value of the program is
	Declared   []string  `json:"declared,omitempty"`   // what the program declares at top level
}

// Finding is a construct that the engine does not have.
type Finding struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Pos
}

// Name is an identifier in the source.
type Name struct {
	Name     string `json:"name"`
	Assigned bool   `json:"assigned,omitempty"` // whether the place is an assignment to it

	// Elsewhere is where it is declared, but in a block that the place is not in, or
	// after the place; nil if it is not declared.
	Elsewhere *Pos `json:"elsewhere,omitempty"`
	Pos
}

// Write is an assignment to a constant, or to a member of one.
type Write struct {
	Object string `json:"object,omitempty"` // "" for an assignment to the name itself
	Name   string `json:"name"`
	Delete bool   `json:"delete,omitempty"`
	Pos
}

// Site is a place where the program calls a tool, or what it takes for one.
type Site struct {
	Tool int `json:"tool"` // the number of the tool; -1 if there is no such tool

	// What is called instead, if there is no such tool. Namespace may be a tool, as in
	// search.query({}); Name is empty if the namespace itself is called; Member is what
	// is written after it, be Name a tool, which has no members, or nothing.
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"name,omitempty"`
	Member    string `json:"member,omitempty"`

	Args      *Literal `json:"args,omitempty"`      // nil where nothing is known of them
	Discarded bool     `json:"discarded,omitempty"` // nothing looks at the promise
	Property  string   `json:"property,omitempty"`  // what is read of the promise, as if it were the result
	Fails     bool     `json:"fails,omitempty"`     // to read that throws
	Holder    string   `json:"holder,omitempty"`    // the variable that the call initializes, if any
	Awaited   bool     `json:"awaited,omitempty"`   // where it stands
	Uses      []Use    `json:"uses,omitempty"`      // of the result of a call that is awaited, those that may go wrong
	Varies    bool     `json:"varies,omitempty"`    // the program tries several members of the result, or adds some
	Pos
}

// Use is how the program uses the result of a call.
type Use struct {
	How      string `json:"how"`
	Property string `json:"property,omitempty"` // of Read and Called
	Pos
}

// Ways to use a result.
const (
	Read     = "read"     // a property that texts do not have, or length
	Called   = "called"   // a method that texts do not have
	Iterated = "iterated" // as for…of does
	Parsed   = "parsed"   // by JSON.parse
)

// Literal is as much of an argument as is known before the program runs.
type Literal struct {
	// JSON is the value, with null in the places that are not known.
	JSON json.RawMessage `json:"json"`
	// Unknown holds the JSON pointers of those places. A pointer that ends in
	// "/..." says that the object or array before it may have further members.
	Unknown []string `json:"unknown,omitempty"`
}
