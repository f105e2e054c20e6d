package check

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// block is a lexical scope: a block, a loop, a parameter list, or a function body. The walker opens and closes blocks.
// Names are resolved after the walk, because a variable's declaration may follow its uses.
type block struct {
	outer       *block
	conditional int  // the number of conditional expressions and statements around the block
	function    int  // the enclosing function's number
	parameters  bool // the block has a function's parameters, and is the outer block of its body
	body        bool // var declarations belong to this block
	variables   map[unistring.String]*variable
	try         *handler // the innermost try statement with a catch around the block in its function, or nil
}

// kind is the kind of a declaration.
type kind int

const (
	given    kind = iota // a function, a parameter or a caught value, which has a value from the start
	hoisted              // declared by var
	lexical              // declared by let or class
	constant             // declared by const
)

// variable is a declared variable.
type variable struct {
	occurrence
	kind  kind
	block *block
	id    *ast.Identifier // the identifier in a pattern; nil for the name of a function or a class

	// value is the initializer; path leads from its result to the part that is bound to the variable. value is nil if
	// the initializer is unknown or of no use to the check.
	value ast.Expression
	path  []string

	// Numbers of references, in the order in which they are walked. The variable is not yet initialized at the
	// references before declared, and at the references from begin to end, which are in its initializer.
	declared, begin, end int

	reads, writes int
}

// reference is an identifier in the source, which may be a declaration.
type reference struct {
	id          *ast.Identifier
	block       *block
	conditional int // the number of conditional expressions and statements around it
}

// variable returns the variable to which r refers, or nil if the name is not declared.
func (r reference) variable() *variable { return r.block.find(r.id.Name) }

func kindOf(isConstant bool) kind {
	if isConstant {
		return constant
	}
	return lexical
}

// find returns the variable to which a name refers in the block, or nil.
func (b *block) find(name unistring.String) *variable {
	for ; b != nil; b = b.outer {
		if v := b.variables[name]; v != nil {
			return v
		}
	}
	return nil
}

// early reports whether a reference certainly reads the variable before it is initialized.
func (v *variable) early(number int, r reference) bool {
	if v.kind < lexical || r.conditional > v.block.conditional || v.block.function != r.block.function {
		return false
	}
	return number < v.declared || v.begin <= number && number < v.end
}

// fixed returns the initial value, or nil if the value is unknown or the variable is assigned to.
func (v *variable) fixed() ast.Expression {
	if v.writes > 0 {
		return nil
	}
	return v.value
}

// constant reports whether the variable has the same known value wherever it can be read.
func (v *variable) constant() bool { return v.kind >= lexical && v.fixed() != nil }

// open opens a block in the current one.
func (w *Walker) open() {
	if outer := w.block; outer != nil {
		w.block = &block{outer: outer, conditional: w.conditional, function: outer.function, body: outer.parameters,
			try: outer.try}
	}
}

// openFunction opens the block of a function's parameters.
func (w *Walker) openFunction() {
	if w.open(); w.block != nil {
		w.numbered++
		w.block.function, w.block.parameters, w.block.try = w.numbered, true, nil
	}
}

func (w *Walker) close() {
	if w.block != nil {
		w.block = w.block.outer
	}
}

// declare adds a variable to its block.
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
			b = b.outer // var redeclares a parameter
		}
	}
	if known := b.variables[name]; known != nil {
		known.writes++
		return known
	}
	v.occurrence = occurrence{name.String(), id.Idx}
	v.block, v.declared = b, len(w.references)
	engine.Put(&b.variables, name, &v)
	w.variables = append(w.variables, &v)
	if v.kind >= lexical && v.id != nil {
		w.fresh = append(w.fresh, &v)
	}
	return &v
}

// initialize walks the initializer of the variables in w.fresh[first:], and removes the variables from w.fresh.
func (w *Walker) initialize(first int, initializer ast.Expression) {
	begin, declared := len(w.references), w.fresh[first:]
	w.expr(initializer)
	for _, v := range declared {
		v.begin, v.end = begin, len(w.references)
	}
	w.fresh = w.fresh[:first]
}

// initialized records that the references since the declaration of a variable are in its initializer.
func (w *Walker) initialized(v *variable) { v.begin, v.end = v.declared, len(w.references) }

// hasOwnName reports whether a function or class has a name that is visible only inside it.
func (w *Walker) hasOwnName(id *ast.Identifier) bool {
	return id != nil && w.block != nil && w.block.variables[id.Name] == nil
}

// declareName declares a function's or class's name.
func (w *Walker) declareName(id *ast.Identifier, k kind) {
	if id != nil {
		w.declare(id, variable{kind: k})
	}
}

// pattern walks a declared pattern and declares its variables. value is the expression that the pattern destructures,
// or nil if there is no such expression.
func (w *Walker) pattern(target ast.Expression, k kind, value ast.Expression) {
	if w.block != nil {
		v := variable{kind: k}
		if k != given && worthKeeping(value) { // a parameter may have a value other than its default
			v.value = value
		}
		w.declareAll(target, v)
	}
	w.Walk(target)
}

// worthKeeping reports whether an initial value can help the check. A kept value stays in memory as long as the
// program.
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

// member returns a copy of v that holds a member of v's value.
func (v variable) member(name string) variable {
	v.path = append(v.path[:len(v.path):len(v.path)], name)
	return v
}
