package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

const (
	programs    = "programs" // the namespace of saved programs
	maxPrograms = 100
	maxSource   = 4000 // bytes of a program's source in its description
)

// WithPrograms returns a copy of a set with one more tool for each saved program in a folder: the file list_prs.js,
// which [module.Script.Write] wrote, is the tool programs.list_prs, with the Script's inputs as arguments and an object
// with its outputs as result. A program can call the tools that its Script lists, with the set's policies, but no saved
// programs. As for a [module.Tool], its run is in Trajectory.Runs of the run that calls it, with a journal of its own
// and box's limits for one program. The options, which may be nil, are those of [module.NewProgram].
//
// WithPrograms runs nothing, but checks each program against the set, and returns an error for each one that it leaves
// out, with the name of what is missing or has changed. It reads only files in the folder itself that end in .js, at
// most 100. The last error is about the folder, or about another tool that is called programs.
func WithPrograms(
	ctx context.Context, set *tools.Set, folder string, box module.Sandbox, o *module.Options,
) (with *tools.Set, leftOut []error, err error) {
	if _, ok := box.(*sandbox.Session); ok {
		return nil, nil, errors.New("agent: saved programs cannot run in a Session that runs their callers; " +
			"pass WithPrograms a Sandbox")
	}
	for _, b := range set.Bindings() {
		if b.Object == programs || b.Path() == programs {
			return nil, nil, fmt.Errorf("agent: %s has the name of the saved programs; rename it", b.Path())
		}
	}
	root, err := os.OpenRoot(folder)
	var entries []fs.DirEntry
	if err == nil {
		defer root.Close()
		entries, err = fs.ReadDir(root.FS(), ".")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("agent: the folder of saved programs: %w", err)
	}
	with = set.With()
	names := map[string]string{} // by their lower case
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".js")
		if !ok {
			continue
		}
		var t *tools.Tool
		more, other := with, names[strings.ToLower(name)]
		switch names[strings.ToLower(name)] = name; {
		case other != "":
			err = fmt.Errorf("its name differs from %s.js only in case; rename one of them", other)
		case len(names) > maxPrograms:
			err = fmt.Errorf("the folder has more than %d programs", maxPrograms)
		default:
			if t, err = load(ctx, root, name, set, box, o); err == nil {
				more, err = with.Plus(t)
			}
		}
		if err != nil {
			leftOut = append(leftOut, fmt.Errorf("agent: the saved program %s.js is left out: %w", name, err))
			continue
		}
		with = more
	}
	return with, leftOut, ctx.Err()
}

// load makes a tool from a saved program.
func load(
	ctx context.Context, root *os.Root, name string, set *tools.Set, box module.Sandbox, o *module.Options,
) (*tools.Tool, error) {
	info, err := root.Stat(name + ".js")
	if err == nil && !info.Mode().IsRegular() { // reading from a pipe might never end
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	f, err := root.Open(name + ".js")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	script, err := module.ReadScript(f)
	if err != nil {
		return nil, err
	}
	sig, err := signature.Parse(script.Signature, script.Instructions)
	if err != nil {
		return nil, fmt.Errorf("its line // @signature: %w", err)
	}
	var calls []string
	hints, claimed := tools.Hints{Class: tools.Read}, tools.Read
	set = set.Only(func(b *tools.Binding) bool {
		isTool := func(line string) bool { return strings.Contains(line, " "+b.Path()+"(") }
		switch {
		case !slices.ContainsFunc(script.Tools, isTool):
			return false
		case b.ReplayClass() != tools.Read:
			hints.Class, claimed = tools.Effect, tools.Unclassified
		case b.Hints.Class != tools.Read && hints.Class == tools.Read: // believed only in replay
			hints.Class = tools.Unclassified
		}
		calls = append(calls, b.Path())
		return true
	})
	var options module.Options
	if o != nil {
		options = *o
	}
	options.Kind, options.Logger = "", slog.New(slog.DiscardHandler)
	p := module.NewProgram(sig, script, box, set, &options)
	if err := p.Check(ctx); err != nil {
		return nil, err
	}
	description := fmt.Sprintf("%s\nA saved program. Calls: %s\n```js\n%s\n```", script.Instructions,
		strings.Join(calls, ", "), display.Cut(strings.TrimSpace(script.Code), maxSource))
	t := module.Tool(name, description, saved{p}, &hints)
	t.Namespace, t.Claimed = programs, claimed
	t.InputSchema, t.OutputSchema = sig.Spec().InputSchema().Raw(), sig.Spec().OutputSchema().Raw()
	handle := t.Handler
	t.Handler = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		result, err := handle(ctx, args)
		return result, explained(err)
	}
	return t, nil
}

// saved runs a program as the module of a tool. Its Predictor asks no model, so it is not part of the agent's state.
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

// explained returns the error of a saved program with what the program did before. Usually all of that is known. Then
// the call has failed, so that a program can repeat it by naming it. For other modules, its outcome would be unknown.
func explained(err error) error {
	run, ok := errors.AsType[*module.IncompleteError](err)
	if !ok || !errors.Is(err, module.ErrNoAnswer) || tools.IsFatal(err) {
		return err
	}
	kind, reason, done := tools.KindFailed, err.Error(), ""
	if f, ok := errors.AsType[*sandbox.Failure](err); ok {
		reason, _, _ = strings.Cut(f.Error(), "\n")
	}
	for e := range run.Trajectory.AllCalls() {
		if e.Class == tools.Read || e.State == journal.StateRejected {
			continue
		}
		if e.State != journal.StateOK && e.State != journal.StateFailed {
			kind = tools.KindUnknown
		}
		done += fmt.Sprintf(" %s(%s) %s;", e.Tool, display.Cut(string(e.Args), 200), e.State)
	}
	if done != "" {
		reason += "; its calls that may have had effects:" + display.Cut(strings.TrimSuffix(done, ";"), maxSource)
	}
	return (&tools.ToolError{Kind: kind, Message: "the saved program failed: " + reason}).WithCause(err)
}
