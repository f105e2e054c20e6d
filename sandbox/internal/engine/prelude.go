package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/writ-go/writ/sandbox/internal/check"
)

// Prelude is the body of a function that is called before a program, in the same
// VM and within its limits. What it returns is a constant of the program, by the
// name of [PreludeName]. What it declares is its own.
type Prelude struct {
	Hash string `json:"hash"`           // of the text
	Text string `json:"text,omitempty"` // "" for an engine that knows it
}

// NewPrelude makes a prelude of a text; nil of none.
func NewPrelude(text string) *Prelude {
	if text == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	return &Prelude{Hash: hex.EncodeToString(sum[:]), Text: text}
}

// first returns a prelude with its text, which is only with the first one of those
// that have the hash.
func (p *Prelude) first(texts map[string]*Prelude) *Prelude {
	switch {
	case p == nil:
		return nil
	case p.Text != "":
		texts[p.Hash] = p
	case texts[p.Hash] != nil:
		return texts[p.Hash]
	}
	return p
}

// PreludeName is what a program calls the value of its prelude.
const PreludeName = "__writ_library__"

const (
	preludeFile     = "library.js"
	preludePrologue = `(function(){`
)

// MaxPreludes is how many compiled preludes an engine keeps, and keptPreludes how
// many bytes of source they have together; the last one is kept in any case.
const (
	MaxPreludes  = 8
	keptPreludes = 1 << 20
)

// preludes keeps the preludes that were compiled last: they are long, and one
// program after the other has the same. The zero value is empty.
type preludes struct {
	mu   sync.Mutex
	list []compiledPrelude // the one used last is the last
}

type compiledPrelude struct {
	hash string
	size int
	code *goja.Program
}

// code returns a compiled prelude; nil of none.
func (s *preludes) code(p *Prelude) (*goja.Program, *Failure) {
	if p == nil {
		return nil, nil
	}
	if code := s.find(p.Hash); code != nil {
		return code, nil
	}
	if p.Text == "" {
		return nil, &Failure{Kind: Stale, Message: "the library is not here"}
	}
	code, failure := compilePrelude(p.Text)
	if failure == nil {
		s.keep(compiledPrelude{p.Hash, len(p.Text), code})
	}
	return code, failure
}

func (s *preludes) find(hash string) *goja.Program {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.list {
		if c.hash == hash {
			s.list = append(append(s.list[:i:i], s.list[i+1:]...), c)
			return c.code
		}
	}
	return nil
}

func (s *preludes) keep(c compiledPrelude) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, c)
	size := 0
	for i := len(s.list) - 1; i >= 0; i-- {
		size += s.list[i].size
		if n := len(s.list) - i; n > 1 && (size > keptPreludes || n > MaxPreludes) {
			s.list = append([]compiledPrelude(nil), s.list[i+1:]...)
			return
		}
	}
}

// compilePrelude compiles a prelude, which nobody has reviewed either.
func compilePrelude(text string) (code *goja.Program, failure *Failure) {
	defer func() {
		if recover() != nil {
			failure = unloadable("the compiler cannot make sense of it")
		}
	}()
	src := newSource(text)
	src.prologue = preludePrologue
	pre, bad := survive(src)
	switch {
	case bad != nil:
		return nil, unloadable(bad.Message)
	case pre.refused != nil:
		return nil, unloadable(preflightFailure(src, pre.refused).Message)
	}
	src.renamed = pre.renamed
	tree, err := src.parse(preludeFile)
	if err != nil {
		return nil, unloadable(syntaxFailure(src, err, pre.unsupported).Message)
	}
	if bad := notOneCall(tree); bad != nil {
		return nil, bad
	}
	if code, err = goja.CompileAST(tree, false); err != nil {
		return nil, unloadable(syntaxFailure(src, err, "").Message)
	}
	return code, nil
}

// notOneCall refuses a text that is more than the body of one function, or that
// has patterns which would never match.
func notOneCall(tree *ast.Program) *Failure {
	if len(tree.Body) != 1 {
		return unloadable("it closes a bracket that it did not open")
	}
	var bad *Failure
	w := check.Walker{Lent: lendArguments, Visit: func(n ast.Node) {
		if e, ok := n.(*ast.RegExpLiteral); ok && check.NeverMatches(e.Pattern, e.Flags) {
			bad = unloadable(`it has a pattern with \p{…}, which never matches in this engine`)
		}
	}}
	w.Walk(tree.Body[0])
	return bad
}

func unloadable(why string) *Failure {
	return &Failure{Kind: Syntax, Message: "the library of the program cannot be loaded: " + why, Hint: "do without what it imports"}
}

// preload runs the prelude of a program, once in a VM. It reports whether that
// went well.
func (r *run) preload(p *Prelude, code *goja.Program) bool {
	r.prelude = nil
	if p == nil {
		return true
	}
	if r.prelude = r.preloaded[p.Hash]; r.prelude != nil {
		return true
	}
	r.touched = true
	value, err := r.vm.RunProgram(code)
	if err != nil {
		r.check(err)
		if f := r.result.Failure; f != nil && f.Kind == Thrown { // nil if it has submitted
			f.Message = "while its imports were loaded: " + f.Message
		}
		return false
	}
	put(&r.preloaded, p.Hash, value)
	r.prelude = value
	return true
}
