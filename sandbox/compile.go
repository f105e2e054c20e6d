package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/sourcemap"
)

// Compiler translates a language into JavaScript. It may have two more methods, which the
// modules of package module use:
//
//	Ready() error      // the reason why nothing can be compiled, or nil
//	Describe() string  // a constant Markdown list for models: the language, what programs
//	                   // may import, and which features the language has and lacks
type Compiler interface {
	// Compile compiles one program. It reports mistakes of the author in Compiled.Findings. It
	// returns an error only for a problem that no program can fix; the error ends the run.
	// Compile is called once for each run and check, also concurrently. The run's time limits
	// begin afterwards.
	Compile(ctx context.Context, source string) (*Compiled, error)
}

// Compiled is a program in JavaScript. The sandbox treats it like any other program but
// translates every line and column back to the author's text.
//
// [Rules] apply to the author's text. The exception is Rules.Names, which must not occur in the parts of Source that
// Map maps to the author's text.
type Compiled struct {
	// Source is checked and run instead of Program.Source. Its maximum size is four times
	// Limits.Source plus 64 KiB.
	Source string

	// Library is the body of a function that is called before Source in the same VM, within the run's limits.
	// Source can read the function's result as the constant __writ_library__, but cannot see the declarations
	// in Library. The worker caches the compiled library for later programs with the same Library. Its maximum
	// size is 4 MiB; empty means no library.
	//
	// In a session, programs with the same library share its result.
	Library string

	// Map is a source map, version 3, from Source to the author's text. Nil means that
	// positions are the same in both. Its maximum size is eight times the size of Source
	// plus 64 KiB.
	Map []byte

	// Findings are the reasons why the program cannot be compiled. Kind may be empty. The
	// sandbox sets Frame.
	Findings []Finding
}

const (
	maxGrowth    = 4 // maximum ratio of the sizes of Source and Limits.Source
	maxMapGrowth = 8 // maximum ratio of the sizes of Map and Source
	spareBytes   = 64 << 10
	maxLibrary   = 4 << 20
)

// compile compiles a job's program and sets h.origin. If the program is rejected, it sets h.findings instead.
func (h *host) compile(job *engine.Job) error {
	c, err := h.program.Compiler.Compile(h.ctx, h.program.Source)
	switch {
	case err != nil && h.ctx.Err() != nil:
		return fmt.Errorf("sandbox: not started: %w", canceled(h.ctx))
	case err != nil:
		return fmt.Errorf("sandbox: compile the program: %w", err)
	case c == nil:
		return errors.New("sandbox: the compiler returned neither a program nor an error")
	}
	if h.findings = h.compilerFindings(c); h.findings != nil {
		return nil
	}
	job.Source, job.Prelude = c.Source, engine.NewPrelude(c.Library)
	h.origin = &origin{}
	if c.Map == nil {
		return nil
	}
	if limit := maxMapGrowth*len(c.Source) + spareBytes; len(c.Map) > limit {
		return fmt.Errorf("sandbox: the source map of the compiler has %d bytes; %d are allowed", len(c.Map), limit)
	}
	m, err := sourcemap.Parse(c.Map)
	if err != nil {
		return fmt.Errorf("sandbox: the compiler's result: %w", err)
	}
	h.origin.sourceMap = m
	return nil
}

// compilerFindings returns a compiler's findings and the rule violations, or one finding if the compiled program is too
// large.
func (h *host) compilerFindings(c *Compiled) []Finding {
	if len(c.Findings) > 0 {
		findings := h.violations()
		for _, f := range c.Findings[:min(len(c.Findings), maxFindings)] {
			at := engine.Pos{Line: f.Line, Column: f.Column}
			findings = append(findings, h.finding(cmp.Or(f.Kind, KindSyntax), f.Message, f.Hint, at))
		}
		slices.SortStableFunc(findings, inOrder)
		return findings
	}
	tooLarge := func(what string, size, limit int) []Finding {
		message := fmt.Sprintf("%s %d bytes; %d are allowed", what, size, limit)
		return []Finding{{Kind: kindSourceLimit, Message: message, Hint: "write a shorter program, and import less"}}
	}
	if limit := maxGrowth*h.limits.Source + spareBytes; len(c.Source) > limit {
		return tooLarge("the compiled program has", len(c.Source), limit)
	}
	if len(c.Library) > maxLibrary {
		return tooLarge("the imports of the program have", len(c.Library), maxLibrary)
	}
	return nil
}

// notCompiled returns the outcome of a program that could not be compiled.
func (h *host) notCompiled(err error) (*Outcome, error) {
	h.end(nil)
	if err != nil {
		return nil, err
	}
	return &Outcome{Failure: refusal(h.findings)}, nil
}

// origin translates positions of a compiled program to the author's text. A program without a
// compiler has a nil origin.
type origin struct {
	sourceMap *sourcemap.Map // nil if positions are the same in both
}

// pos translates a position. It returns the zero Pos for code that the compiler added.
func (o *origin) pos(at engine.Pos) engine.Pos {
	if o == nil || o.sourceMap == nil || at.Line == 0 {
		return at
	}
	line, column, behind, ok := o.sourceMap.Origin(at.Line-1, at.Column-1)
	if !ok {
		return engine.Pos{}
	}
	return engine.Pos{Line: line + 1, Column: column + 1 + behind}
}

// translate translates the positions in a result.
func (o *origin) translate(r *engine.Result) {
	if o == nil || r == nil {
		return
	}
	for i := range r.PromiseMisuses {
		s := &r.PromiseMisuses[i]
		s.Pos, s.Call = o.pos(s.Pos), o.pos(s.Call)
	}
	r.Misses = translated(r.Misses, func(m *engine.Miss) { m.Pos = o.pos(m.Pos) })
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

// report translates the positions of a report.
func (o *origin) report(r *engine.Report) {
	if o == nil {
		return
	}
	name := func(n *engine.Name) {
		n.Pos = o.pos(n.Pos)
		if n.Elsewhere != nil {
			at := o.pos(*n.Elsewhere)
			n.Elsewhere = &at
		}
	}
	finding := func(f *engine.Finding) { f.Pos = o.pos(f.Pos) }
	r.Findings, r.Warnings = translated(r.Findings, finding), translated(r.Warnings, finding)
	r.Undeclared, r.EarlyReads = translated(r.Undeclared, name), translated(r.EarlyReads, name)
	r.Constants = translated(r.Constants, func(w *engine.Write) { w.Pos = o.pos(w.Pos) })
	r.Sites = translated(r.Sites, func(s *engine.Site) { s.Pos = o.pos(s.Pos) })
	r.Forbidden = slices.DeleteFunc(translated(r.Forbidden, name), func(n engine.Name) bool { return n.Line == 0 })
}

// translated returns a copy of a list with translated positions. It does not change the list itself, because the engine
// may use the list again.
func translated[T any](list []T, translate func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		translate(&list[i])
	}
	return list
}
