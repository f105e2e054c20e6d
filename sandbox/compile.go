package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf16"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/sourcemap"
)

// Compiler turns what a program is written in into what the sandbox runs. If it has a
// method Ready() error, that says beforehand why nothing can be compiled.
type Compiler interface {
	// Compile compiles one program. What its author did wrong is in
	// Compiled.Findings; an error is what no program can mend, and ends the run. It
	// is called before the run's limits of time begin to count, once for each run
	// and check, concurrently.
	Compile(ctx context.Context, source string) (*Compiled, error)
}

// Describer is a Compiler that says what its programs may be. It is for those who
// tell models, as package module does.
type Describer interface {
	Compiler

	// Describe returns a list in Markdown, which does not change: what programs are
	// written in, what they may import, and what there is and is not in the language.
	Describe() string
}

// Compiled is a program in JavaScript. The sandbox treats it as it treats any
// other, but shows its author only what he wrote: every line and column is
// translated back, and frames are cut from his text.
//
// [Rules] are about his text, too, but for two that need a syntax tree, and use the
// one of Source: Names are looked for where Map leads back to the text, and Depth is
// the depth of Source.
type Compiled struct {
	// Source is checked and run as if it were Program.Source. It may have four times
	// Limits.Source, and 64 KiB on top of that.
	Source string

	// Library is the body of a function that is called before Source in the same VM,
	// within the run's limits; what it returns is a constant of Source, by the name
	// of [LibraryName]. Its own declarations nobody else sees. It is parsed in the
	// worker only, which keeps what it has compiled: the next program with the same
	// library starts sooner. It may have 4 MiB; empty is none.
	//
	// In a session, programs with the same library share what it has returned.
	Library string

	// Map is a source map, version 3, from Source to what was compiled. Nil says that
	// places are the same in both. It may have eight times the bytes of Source, and
	// 64 KiB on top of that.
	Map []byte

	// Imports are the modules that the program imports, for [Rules]; empty, not nil, if
	// it imports none. A Library that comes with a nil list is an error if the rules are
	// about modules.
	Imports []Import

	// Findings are the reasons why there is no program: it is refused with these.
	// Kind may be left empty, and Frame is cut from the text.
	Findings []Finding
}

// Import is a module that a program imports, as the program names it, and where.
type Import struct {
	Module       string
	Line, Column int
}

// LibraryName is how a compiled program gets at what its library has returned.
const LibraryName = engine.PreludeName

const (
	compiledGrowth = 4
	compiledSpare  = 64 << 10
	mapGrowth      = 8
	maxLibrary     = 4 << 20
)

// compile puts the compiled program into a job, and returns where it comes from;
// nil and no error if it is refused: see uncompiled.
func (h *host) compile(job *engine.Job) (*origin, error) {
	c, err := h.program.Compiler.Compile(h.ctx, h.program.Source)
	switch {
	case err != nil && h.ctx.Err() != nil:
		return nil, fmt.Errorf("sandbox: not started: %w", cancelled(h.ctx))
	case err != nil:
		return nil, fmt.Errorf("sandbox: compile the program: %w", err)
	case c == nil:
		return nil, errors.New("sandbox: the program's compiler has returned nothing, and no error")
	case h.rules != nil && h.rules.Modules != nil && c.Library != "" && c.Imports == nil:
		return nil, errors.New("sandbox: the program's compiler does not say what the program imports, and the rules are about that")
	}
	if h.imports = c.Imports; len(c.Findings) > 0 {
		h.findings = h.compilerFindings(c.Findings)
		return nil, nil
	}
	if h.findings = oversize(c, h.limits.Source); h.findings != nil {
		return nil, nil
	}
	job.Source, job.Prelude = c.Source, h.preludes.of(c.Library)
	if c.Map == nil {
		return &origin{}, nil
	}
	if most := mapGrowth*len(c.Source) + compiledSpare; len(c.Map) > most {
		return nil, fmt.Errorf("sandbox: the program's compiler: its source map has %d bytes; %d are allowed", len(c.Map), most)
	}
	m, err := sourcemap.Parse(c.Map)
	if err != nil {
		return nil, fmt.Errorf("sandbox: the program's compiler: %w", err)
	}
	return &origin{m: m, compiled: unitsOf(c.Source), written: unitsOf(h.program.Source)}, nil
}

// compilerFindings completes the findings of a compiler, and adds what the rules
// say of the text.
func (h *host) compilerFindings(list []Finding) []Finding {
	findings := h.textual()
	for _, f := range list[:min(len(list), maxFindings)] {
		f.Kind = or(f.Kind, KindSyntax)
		findings = append(findings, h.finding(f.Kind, f.Message, f.Hint, engine.Pos{Line: f.Line, Column: f.Column}))
	}
	slices.SortStableFunc(findings, inOrder)
	return findings
}

// preludes makes preludes of libraries. It keeps the last one, as most programs have
// the same, and its hash takes as long as many a run.
type preludes struct {
	last atomic.Pointer[engine.Prelude]
}

func (s *preludes) of(library string) *engine.Prelude {
	if known := s.last.Load(); known != nil && known.Text == library {
		return known
	}
	made := engine.NewPrelude(library)
	if made != nil {
		s.last.Store(made)
	}
	return made
}

func oversize(c *Compiled, source int) []Finding {
	exceeds := func(what string, have, most int) []Finding {
		return one(Finding{
			Kind:    KindSourceLimit,
			Message: fmt.Sprintf("%s %d bytes; %d are allowed", what, have, most),
			Hint:    "write a shorter program, and import less",
		})
	}
	if most := compiledGrowth*source + compiledSpare; len(c.Source) > most {
		return exceeds("compiled, the program has", len(c.Source), most)
	}
	if len(c.Library) > maxLibrary {
		return exceeds("what the program imports has", len(c.Library), maxLibrary)
	}
	return nil
}

// uncompiled is how a run ends whose program could not be compiled.
func (h *host) uncompiled(err error) (*Outcome, error) {
	h.end(nil)
	if err != nil {
		return nil, err
	}
	return &Outcome{Failure: refusal(h.findings)}, nil
}

// origin is where a compiled program comes from. A nil one is of a program that was
// not compiled.
type origin struct {
	m                 *sourcemap.Map // nil for the same places
	compiled, written units
}

// units are the lines of a text as columns count them. A program may have thousands
// of places in one line.
type units func() [][]uint16

func unitsOf(text string) units {
	return sync.OnceValue(func() [][]uint16 {
		var lines [][]uint16
		for _, line := range engine.Lines(text) {
			lines = append(lines, utf16.Encode([]rune(line)))
		}
		return lines
	})
}

// cut is so much of the text that is at a place; nil if there is not so much.
func (u units) cut(at engine.Pos, columns int) []uint16 {
	lines, start := u(), at.Column-1
	if at.Line > len(lines) || start+columns > len(lines[at.Line-1]) {
		return nil
	}
	return lines[at.Line-1][start : start+columns]
}

// pos translates a place; the zero Pos is of what the compiler has added.
func (o *origin) pos(at engine.Pos) engine.Pos {
	if o == nil || o.m == nil || at.Line == 0 {
		return at
	}
	line, column, behind, ok := o.m.Origin(at.Line-1, at.Column-1)
	if !ok {
		return engine.Pos{}
	}
	from := engine.Pos{Line: line + 1, Column: column + 1}
	if behind > 0 && o.same(engine.Pos{Line: at.Line, Column: at.Column - behind}, from, behind) {
		from.Column += behind
	}
	return from
}

// same reports whether so many columns of the text are as they were written: a map
// need not say where each word of them comes from.
func (o *origin) same(compiled, written engine.Pos, columns int) bool {
	a, b := o.compiled.cut(compiled, columns), o.written.cut(written, columns)
	return a != nil && slices.Equal(a, b)
}

// result translates the places of a failure, and of stray promises.
func (o *origin) result(r *engine.Result) {
	if o == nil || r == nil {
		return
	}
	for i := range r.Strays {
		s := &r.Strays[i]
		s.Pos, s.Call = o.pos(s.Pos), o.pos(s.Call)
	}
	if r.Failure == nil {
		return
	}
	f := *r.Failure
	f.Pos, f.Stack = o.pos(f.Pos), nil
	for _, at := range r.Failure.Stack {
		if at = o.pos(at); at.Line > 0 {
			f.Stack = append(f.Stack, at)
		}
	}
	if f.Line == 0 && len(f.Stack) > 0 {
		f.Pos = f.Stack[0]
	}
	r.Failure = &f
}

// translator is a host that is told of places in what was compiled.
type translator struct {
	engine.Host
	origin *origin
}

// Report implements [engine.Host].
func (t *translator) Report(r engine.Report) func() bool {
	r.Findings = translated(t.origin, r.Findings, func(f *engine.Finding) *engine.Pos { return &f.Pos })
	r.Smells = translated(t.origin, r.Smells, func(f *engine.Finding) *engine.Pos { return &f.Pos })
	r.Undeclared = translated(t.origin, r.Undeclared, namePos)
	r.Early = translated(t.origin, r.Early, namePos)
	t.elsewhere(r.Undeclared)
	t.elsewhere(r.Early)
	r.Constants = translated(t.origin, r.Constants, func(w *engine.Write) *engine.Pos { return &w.Pos })
	r.Sites = translated(t.origin, r.Sites, func(s *engine.Site) *engine.Pos { return &s.Pos })
	for i := range r.Sites {
		r.Sites[i].Uses = translated(t.origin, r.Sites[i].Uses, func(u *engine.Use) *engine.Pos { return &u.Pos })
	}
	r.Forbidden = translated(t.origin, r.Forbidden, namePos)
	r.Forbidden = slices.DeleteFunc(r.Forbidden, func(n engine.Name) bool { return n.Line == 0 })
	return t.Host.Report(r)
}

// elsewhere translates the places where names are declared.
func (t *translator) elsewhere(list []engine.Name) {
	for i := range list {
		if n := &list[i]; n.Elsewhere != nil {
			at := t.origin.pos(*n.Elsewhere)
			n.Elsewhere = &at
		}
	}
}

func namePos(n *engine.Name) *engine.Pos { return &n.Pos }

// translated is a list of other places. The engine may use its own again.
func translated[T any](o *origin, list []T, pos func(*T) *engine.Pos) []T {
	list = slices.Clone(list)
	for i := range list {
		at := pos(&list[i])
		*at = o.pos(*at)
	}
	return list
}

// Call implements [engine.Host].
func (t *translator) Call(c engine.Call, reply func(engine.Reply)) func() {
	c.Pos = t.origin.pos(c.Pos)
	return t.Host.Call(c, reply)
}
