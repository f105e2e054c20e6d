package engine

import "encoding/json"

// Pos is a position in the source. Lines and columns count from 1, columns in UTF-16
// code units, as JavaScript tools count them. The zero Pos is unknown.
type Pos struct {
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Report is what the check found in a program without running it.
type Report struct {
	Findings   []Finding `json:"findings,omitempty"`   // constructs that the engine rejects
	Undeclared []Name    `json:"undeclared,omitempty"` // names that are not declared, at their first use
	Constants  []Write   `json:"constants,omitempty"`  // assignments to inputs and tools
	EarlyReads []Name    `json:"early,omitempty"`      // variables read too early; Assigned: they hide a tool or input
	Warnings   []Finding `json:"smells,omitempty"`     // code that runs, but probably not as its author intended
	Sites      []Site    `json:"sites,omitempty"`      // tool calls
	Forbidden  []Name    `json:"forbidden,omitempty"`  // names that are forbidden
	NoValue    bool      `json:"noValue,omitempty"`    // the program does not define its value
	Declared   []string  `json:"declared,omitempty"`   // top-level declarations
	Acts       bool      `json:"acts,omitempty"`       // the program contains a call or a declaration
}

// Clean reports whether the report contains no reason to reject the program. A host with its own rules may still reject
// it.
func (r *Report) Clean() bool {
	return len(r.Findings)+len(r.Undeclared)+len(r.Constants)+len(r.EarlyReads)+len(r.Sites)+len(r.Forbidden) == 0
}

// Finding is a problem in the source.
type Finding struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Pos
}

// Name is an identifier in the source.
type Name struct {
	Name     string `json:"name"`
	Assigned bool   `json:"assigned,omitempty"` // the position is an assignment to the name

	// Elsewhere is the declaration's position if the name is declared later or in another block; otherwise nil.
	Elsewhere *Pos `json:"elsewhere,omitempty"`
	Pos
}

// Write is an assignment to a constant, or to a member of a constant.
type Write struct {
	Object string `json:"object,omitempty"` // "" if the name itself is assigned to
	Name   string `json:"name"`
	Delete bool   `json:"delete,omitempty"`
	Pos
}

// Site is a tool call, or a call to a path that looks like a tool.
type Site struct {
	Tool int `json:"tool"` // index into Job.Tools; -1 if the tool does not exist

	// If the tool does not exist, these fields are the path that the program calls. Namespace may also be a tool's
	// name, as in search.query({}). Name is empty if the program calls the namespace itself. If Name is a tool, Member
	// is the rest of the path.
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"name,omitempty"`
	Member    string `json:"member,omitempty"`

	Args      *Literal `json:"args,omitempty"`      // nil if nothing is known about the arguments
	Statement int      `json:"statement,omitempty"` // the top-level statement's number; 0 in a hoisted function
	Until     int      `json:"until,omitempty"`     // the last statement that may run before the error is handled, or 0
	Pos
}

// Literal is the part of an argument that is known before the program runs.
type Literal struct {
	// JSON is the value, with null for the parts that are not known.
	JSON json.RawMessage `json:"json"`
	// Unknown holds the JSON pointers of the unknown parts. A pointer that ends in "/..." means that the object
	// or array may have more members.
	Unknown []string `json:"unknown,omitempty"`
}
