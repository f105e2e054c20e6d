package check

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// block is a lexical scope: a block, a loop, a list of parameters, the body of a
// function. The walker opens and closes them; names are resolved when it is done, as
// a declaration may follow what refers to it.
type block struct {
	outer       *block
	conditional int  // the number of conditional statements around it
	function    int  // the number of the function around it
	parameters  bool // it belongs to a function, and its body is within it
	body        bool // var declarations end here
	variables   map[unistring.String]*variable
}

// kind is how a variable is declared.
type kind int

const (
	given    kind = iota // a function, a parameter or what is caught: it has a value from the start
	hoisted              // by var
	lexical              // by let or class
	constant             // by const
)

// variable is what a declaration declares.
type variable struct {
	place
	kind  kind
	block *block
	id    *ast.Identifier // where a pattern declares it; nil for the name of a function or a class

	// value is what it is initialized with, and path which member of that. Both are
	// empty if that is not known, or nothing to follow.
	value ast.Expression
	path  []string

	// The references are numbered as they are walked. Those before declared, and those
	// from begin to end, which the initializer makes, find nothing yet.
	declared, begin, end int

	reads, writes int
	misread       int    // how many of the reads take a promise for its result
	property      string // what the first of these reads
	failing       string // what is first read in a way that throws if it is a promise
	changed       bool   // whether the program assigns to its members
	tried         bool   // whether the program reads one member or else another
	probed        bool   // whether the program finds out what kind of value it holds
	reader        string // the first of the methods of arrays that is called
	uses          []use  // if it holds the result of a call
}

// reference is where the program writes a name, declarations among them.
type reference struct {
	id          *ast.Identifier
	block       *block
	conditional int // the number of conditional expressions and statements around it
}

// variable returns what the name stands for; nil if the program does not declare it.
func (r reference) variable() *variable { return r.block.find(r.id.Name) }

func kindOf(isConstant bool) kind {
	if isConstant {
		return constant
	}
	return lexical
}

// find returns the variable that a name stands for in a block; nil if the program
// does not declare it there.
func (b *block) find(name unistring.String) *variable {
	for ; b != nil; b = b.outer {
		if v := b.variables[name]; v != nil {
			return v
		}
	}
	return nil
}

// early reports whether a reference finds the variable, for certain, before it has a
// value.
func (v *variable) early(number int, r reference) bool {
	if v.kind < lexical || r.conditional > v.block.conditional || v.block.function != r.block.function {
		return false
	}
	return number < v.declared || v.begin <= number && number < v.end
}

// fixed returns the one value that the variable has; nil if it is not known.
func (v *variable) fixed() ast.Expression {
	if v.writes > 0 {
		return nil
	}
	return v.value
}

// constant reports whether the variable has its one value wherever it can be read.
func (v *variable) constant() bool { return v.kind >= lexical && v.fixed() != nil }

// open begins a block within the last one.
func (w *Walker) open() {
	if outer := w.block; outer != nil {
		w.block = &block{outer: outer, conditional: w.conditional, function: outer.function, body: outer.parameters}
	}
}

// openFunction begins the parameters of a function.
func (w *Walker) openFunction() {
	if w.open(); w.block != nil {
		w.numbered++
		w.block.function, w.block.parameters = w.numbered, true
	}
}

func (w *Walker) close() {
	if w.block != nil {
		w.block = w.block.outer
	}
}

// declare adds a variable to the block that it belongs to.
func (w *Walker) declare(id *ast.Identifier, v variable) *variable {
	b, name := w.block, id.Name
	if b == nil {
		return &v
	}
	if v.kind == hoisted {
		for !b.body && !b.parameters {
			b = b.outer
		}
		if b.outer != nil && b.outer.variables[name] != nil && b.outer.parameters {
			b = b.outer // the variable is the parameter
		}
	}
	if known := b.variables[name]; known != nil {
		known.writes++
		return known
	}
	v.place = place{name.String(), id.Idx}
	v.block, v.declared = b, len(w.references)
	put(&b.variables, name, &v)
	w.variables = append(w.variables, &v)
	if v.kind >= lexical && v.id != nil {
		w.fresh = append(w.fresh, &v)
	}
	return &v
}

// initialize walks the initializer of the variables declared since there were only
// so many fresh ones.
func (w *Walker) initialize(first int, initializer ast.Expression) {
	begin, declared := len(w.references), w.fresh[first:]
	w.expr(initializer)
	for _, v := range declared {
		v.begin, v.end = begin, len(w.references)
	}
	w.fresh = w.fresh[:first]
}

// initialized notes that what a variable holds has been walked since it was declared.
func (w *Walker) initialized(v *variable) { v.begin, v.end = v.declared, len(w.references) }

// hasOwnName reports whether a function or class has a name that is visible only in it.
func (w *Walker) hasOwnName(id *ast.Identifier) bool {
	return id != nil && w.block != nil && w.block.variables[id.Name] == nil
}

// declareName adds the name of a function or a class.
func (w *Walker) declareName(id *ast.Identifier, k kind) {
	if id != nil {
		w.declare(id, variable{kind: k})
	}
}

// pattern walks what a declaration declares, and adds its variables. Value is what
// they are initialized with, or nil.
func (w *Walker) pattern(target ast.Expression, k kind, value ast.Expression) {
	if w.block != nil {
		v := variable{kind: k}
		if k != given && worthKeeping(value) { // the value of a parameter is but its default
			v.value = value
		}
		w.declareAll(target, v)
	}
	w.Walk(target)
}

// worthKeeping reports whether it is of use to know that a variable has a value: what is
// known is kept as long as the program.
func worthKeeping(e ast.Expression) bool {
	switch e.(type) {
	case *ast.Identifier, *ast.DotExpression, *ast.BracketExpression, *ast.OptionalChain,
		*ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.TemplateLiteral,
		*ast.UnaryExpression, *ast.BinaryExpression, *ast.ObjectLiteral, *ast.ArrayLiteral:
		return true
	}
	return false
}

func (w *Walker) declareAll(target ast.Expression, v variable) {
	switch t := target.(type) {
	case *ast.Identifier:
		v.id = t
		w.declare(t, v)
	case *ast.AssignExpression: // a default
		w.declareAll(t.Left, variable{kind: v.kind})
	case *ast.ArrayPattern:
		for _, element := range t.Elements {
			w.declareAll(element, variable{kind: v.kind})
		}
		w.declareAll(t.Rest, variable{kind: v.kind})
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			w.declareProperty(p, v)
		}
		w.declareAll(t.Rest, variable{kind: v.kind})
	}
}

func (w *Walker) declareProperty(p ast.Property, v variable) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		v = v.member(p.Name.Name.String())
		if p.Initializer != nil {
			v.value = nil
		}
		v.id = &p.Name
		w.declare(&p.Name, v)
	case *ast.PropertyKeyed:
		if key, ok := constantText(p.Key, nil); ok {
			v = v.member(key)
		} else {
			v.value = nil
		}
		w.declareAll(p.Value, v)
	}
}

// member is a variable that holds a member of what this one would.
func (v variable) member(name string) variable {
	v.path = append(v.path[:len(v.path):len(v.path)], name)
	return v
}
