package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
)

// Program is a program and the resources that it may use.
type Program struct {
	// Source is JavaScript. Top-level await and return are allowed. The program's value is what it returns, or else its
	// last statement's value if that statement is an expression.
	Source string

	// Compiler translates Source into JavaScript. It is nil if Source is JavaScript.
	// Package sandbox/typescript has a compiler for TypeScript.
	Compiler Compiler

	// Inputs are constants in the program, by name. Values are converted as encoding/json does; a json.RawMessage is
	// used unchanged.
	Inputs map[string]any

	// Tools are the tools that the program may call. Nil means no tools.
	Tools *tools.Set

	// Attempt records the calls, and answers a call that an earlier program has already made. It is usually a
	// *journal.Attempt of package tools/journal. Nil means that calls are not recorded. If the journal has a log, the
	// program can be repeated in another process; for that reason Date stands still while the program computes.
	Attempt dispatch.Attempt

	// Earlier are names that earlier programs declared and this program cannot see. If the program uses such a name,
	// the check says so. See [Outcome.Declared].
	Earlier []string

	// Uncounted maps a tool's path to the number of its calls that do not count toward Limits.Calls. Further calls to
	// the tool count. Use Uncounted for tools whose calls have their own limit.
	Uncounted map[string]int

	// Limits are this run's limits. A zero field means the sandbox's limit; any other value replaces it, even if it is
	// larger. Memory must be zero.
	Limits Limits

	// Submit makes submit(value) available, which ends the program with a value.
	Submit bool

	// OnCalling, if set, is called before every tool call is performed or answered from the
	// journal. The call is Pending and has no result. OnCalling may be called concurrently
	// and should return soon.
	OnCalling func(Call)

	// OnCall, if set, is called after every tool call. It may be called concurrently and
	// should return soon.
	OnCall func(Call)
}

// job returns the job that runs a program, without its session's inputs.
func (s *Sandbox) job(p Program, l Limits, bound *boundTools, sessionInputs []engine.Input) (*engine.Job, error) {
	job := &engine.Job{
		Source: p.Source, Submit: p.Submit,
		Tools: bound.plain, Forbidden: s.rules.names(),
		Limits: engine.Limits{
			Time: l.Time, Compute: l.Compute, Memory: l.Memory, Output: l.Output, Argument: l.Argument,
		},
	}
	errs := []error{p.Limits.check()}
	if p.Limits.Memory != 0 {
		errs = append(errs, errors.New("sandbox: Program.Limits.Memory must be zero; set it in Options.Limits"))
	}
	own, err := inputs(p.Inputs)
	errs = append(errs, err)
	for _, in := range slices.Concat(sessionInputs, own) {
		if bound.globals[in.Name] {
			errs = append(errs, fmt.Errorf("%w %q: a tool has this name", ErrInput, in.Name))
		}
	}
	for _, in := range sessionInputs {
		if _, twice := p.Inputs[in.Name]; twice {
			errs = append(errs, fmt.Errorf("%w %q: the session has an input with that name", ErrInput, in.Name))
		}
	}
	job.Inputs = own
	return job, errors.Join(errs...)
}

// ErrInput is wrapped by the errors of inputs with an invalid name or value.
var ErrInput = errors.New("sandbox: input")

// inputs converts inputs for the engine. The error joins the errors for all invalid inputs.
func inputs(values map[string]any) (list []engine.Input, err error) {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !jsonvalue.IsIdentifier(name) || globals.Reserved(name) {
			errs = append(errs, fmt.Errorf("%w %q: the name is reserved or not a JavaScript identifier",
				ErrInput, name))
			continue
		}
		text, err := json.Marshal(values[name])
		if err == nil {
			err = engine.Check(text)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%w %q: %w", ErrInput, name, err))
		}
		list = append(list, engine.Input{Name: name, JSON: text})
	}
	return list, errors.Join(errs...)
}
