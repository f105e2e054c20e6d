package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// programs is the namespace of saved programs.
const programs = "programs"

// Bounds of a folder of saved programs.
const (
	maxPrograms = 100
	maxFiles    = 1000
	maxSource   = 4000 // bytes of a program's source in its description
	maxDone     = 10   // calls in an error
)

// WithPrograms returns a copy of a set with one more tool for each program that people saved in a folder: the file
// list_prs.js, which [module.Script.Write] wrote, is the tool programs.list_prs. Its arguments are the inputs of the
// Script's signature, and its result is an object with the outputs. The program can call those tools of the set that
// the Script lists, with the set's policies, but no saved programs. Its run is in Trajectory.Runs of the run that calls
// it, and has its own journal and the limits of box for one program, as for a [module.Tool]. Policies also apply to the
// call of the tool itself. If the program only calls tools of the class Read, the tool has that class.
//
// The options configure the runs as for [module.NewProgram]; nil means the defaults.
//
// WithPrograms checks each program against the set and runs nothing. It returns an error for each file that it left
// out, with the name of what is missing or has changed. Only files that end in .js and are in the folder, not linked
// from elsewhere, are read, and at most 100. The last error is about the folder, or about another tool that is called
// programs.
func WithPrograms(
	ctx context.Context, set *tools.Set, folder string, box module.Sandbox, o *module.Options,
) (with *tools.Set, leftOut []error, err error) {
	for _, b := range set.Bindings() {
		if b.Object == programs || b.Path() == programs {
			return nil, nil, fmt.Errorf("agent: %s has the name of the saved programs; rename it", b.Path())
		}
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("agent: the folder of saved programs: %w", err)
	}
	defer root.Close()
	names, err := programsIn(root)
	if err != nil {
		return nil, nil, fmt.Errorf("agent: the folder of saved programs: %w", err)
	}
	l := loader{root: root, set: set, box: box}
	if o != nil {
		l.options = *o
	}
	l.options.Kind, l.options.Logger = "", slog.New(slog.DiscardHandler)
	with = set.With()
	files := map[string]string{} // by names in lower case
	for _, name := range names {
		var t *tools.Tool
		var more *tools.Set
		other := files[strings.ToLower(name)]
		switch files[strings.ToLower(name)] = name; {
		case other != "":
			err = fmt.Errorf("its name differs from %s.js only in case; rename one of them", other)
		case len(files) > maxPrograms:
			err = fmt.Errorf("the folder has more than %d programs; move some of them away", maxPrograms)
		default:
			if t, err = l.load(ctx, name); err == nil {
				more, err = with.Plus(t)
			}
		}
		if err != nil {
			leftOut = append(leftOut, fmt.Errorf("agent: the saved program %s.js is left out: %w", name, err))
		} else {
			with = more
		}
	}
	return with, leftOut, ctx.Err()
}

// programsIn returns the sorted names of a folder's programs.
func programsIn(root *os.Root) (names []string, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxFiles + 1)
	if len(entries) > maxFiles {
		return nil, fmt.Errorf("%s has more than %d files; choose a folder that has only programs", root.Name(), maxFiles)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".js"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(entries) == 0 {
		err = nil // the end of an empty folder
	}
	return names, err
}

// loader makes tools from the programs of a folder.
type loader struct {
	root    *os.Root
	set     *tools.Set
	box     module.Sandbox
	options module.Options
}

func (l *loader) load(ctx context.Context, name string) (*tools.Tool, error) {
	script, err := l.read(name + ".js")
	if err != nil {
		return nil, err
	}
	if script.Signature == "" {
		return nil, errors.New("it has no line // @signature, so its inputs are unknown")
	}
	sig, err := signature.Parse(script.Signature, script.Instructions)
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for _, t := range script.Tools {
		_, declaration, _ := strings.Cut(t, " ")
		path, _, _ := strings.Cut(declaration, "(")
		paths[path] = true
	}
	set := l.set.Only(func(b *tools.Binding) bool { return paths[b.Path()] })
	p := module.NewProgram(sig, script, l.box, set, &l.options)
	if err := p.Check(ctx); err != nil {
		return nil, err
	}
	hints, claimed := classOf(set)
	t := module.Tool(name, describe(script, set), saved{p}, &hints)
	t.Namespace, t.Claimed, t.Handler = programs, claimed, explaining(t.Handler)
	t.InputSchema, t.OutputSchema = sig.Spec().InputSchema().Raw(), sig.Spec().OutputSchema().Raw()
	return t, nil
}

// read reads a script. It does not open pipes, which might never end.
func (l *loader) read(file string) (module.Script, error) {
	info, err := l.root.Stat(file)
	if err != nil {
		return module.Script{}, err
	}
	if !info.Mode().IsRegular() {
		return module.Script{}, errors.New("it is not a regular file")
	}
	f, err := l.root.Open(file)
	if err != nil {
		return module.Script{}, err
	}
	defer f.Close()
	return module.ReadScript(f)
}

// classOf returns the hints for a program that calls the tools in set. If it is only believed that all of these tools
// read, this is believed of the program, too.
func classOf(set *tools.Set) (h tools.Hints, claimed tools.Class) {
	h.Class, claimed = tools.Read, tools.Read
	for _, b := range set.Bindings() {
		if b.ReplayClass() != tools.Read {
			return tools.Hints{Class: tools.Effect}, tools.Unclassified
		}
		if b.Hints.Class != tools.Read {
			h.Class = tools.Unclassified
		}
	}
	return h, claimed
}

// describe returns the description of a program, which ends with its source.
func describe(s module.Script, set *tools.Set) string {
	var calls []string
	for _, b := range set.Bindings() {
		calls = append(calls, b.Path())
	}
	text := strings.TrimSpace(s.Instructions + "\nA saved program. It calls " + strings.Join(calls, ", ") + ".")
	text = strings.TrimSuffix(text, " It calls .")
	return text + "\n```js\n" + display.Cut(strings.TrimSpace(s.Code), maxSource) + "\n```"
}

// saved runs a program as the module of a tool. Its Predictor asks no model, so it is not part of the agent's.
type saved struct {
	program *module.Program[signature.Values, signature.Values]
}

// arguments are the arguments of a saved program.
type arguments struct{ values signature.Values }

// UnmarshalJSON implements [json.Unmarshaler].
func (a *arguments) UnmarshalJSON(raw []byte) error { return a.values.UnmarshalJSON(raw) }

// Run implements [module.Module].
func (s saved) Run(ctx context.Context, in arguments) (*module.Prediction[json.RawMessage], error) {
	pred, err := s.program.Run(ctx, in.values)
	if err != nil {
		return nil, err
	}
	answer, err := pred.Output.MarshalJSON()
	return &module.Prediction[json.RawMessage]{Output: answer, Trajectory: pred.Trajectory}, err
}

// explaining returns a handler whose errors say what a program had done before it failed. Usually, all of that is
// known. Then the call has failed, and is not unknown as it would be for other modules: a program may repeat the call
// if it names it.
func explaining(h tools.Handler) tools.Handler {
	return func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		result, err := h(ctx, args)
		run, ok := errors.AsType[*module.IncompleteError](err)
		if !ok || !errors.Is(err, module.ErrNoAnswer) || tools.IsFatal(err) {
			return result, err
		}
		reason := err.Error()
		if f, ok := errors.AsType[*sandbox.Failure](err); ok {
			reason, _, _ = strings.Cut(f.Error(), "\n")
		}
		te := &tools.ToolError{Kind: tools.KindFailed, Message: "the saved program failed: " + reason}
		var done []string
		for e := range run.Trajectory.AllCalls() {
			if e.Class == tools.Read || e.State == journal.StateRejected {
				continue
			}
			if e.State != journal.StateOK && e.State != journal.StateFailed {
				te.Kind = tools.KindUnknown
			}
			done = append(done, display.OneLine(fmt.Sprintf("%s(%s) %s", e.Tool, display.Cut(string(e.Args), 200), e.State)))
		}
		if len(done) > 0 {
			te.Message += fmt.Sprintf("; it had made %s that may have had effects: %s", display.Plural(len(done), "call"),
				strings.Join(done[:min(len(done), maxDone)], ", "))
		}
		return nil, te.WithCause(err)
	}
}
