package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Replay runs the program of a recorded step again, and answers its calls with the recorded results. It needs neither
// the tools nor a model. The step may have been read from a Trajectory's JSON.
//
// The program p has the Inputs and the Compiler of the recorded run. If p.Source is set, it runs instead of the step's
// program: it may be a corrected version. Its Tools, Attempt and observers are replaced.
//
// A result belongs to the tool and the arguments of its call, and equal calls get their results in the recorded order.
// All results are there at once, so a program that depends on time may take another course. Arguments are not checked
// against schemas, which are not recorded. A call without a recorded result ends the program, and the error says so. A
// step whose program was refused before it ran is an error.
func Replay(ctx context.Context, box module.Sandbox, s module.Step, p sandbox.Program) (*sandbox.Outcome, error) {
	p.Source, p.Submit = cmp.Or(p.Source, s.Code), true
	p.Attempt, p.OnCalling, p.OnCall = nil, nil, nil
	switch {
	case box == nil:
		return nil, errors.New("agent: replay: the sandbox is nil; create one with sandbox.New")
	case p.Source == "" || s.Outcome == nil:
		return nil, errors.New("agent: replay: the step ran no program; choose another step")
	case s.Outcome.Failure != nil && !s.Outcome.Failure.Ran():
		return nil, fmt.Errorf("agent: replay: the program was refused before it ran: %w", s.Outcome.Failure)
	}
	var undeclared []string // tools in a part of the program that did not run
	for {
		r := &replay{was: s.Outcome, used: map[int]bool{}, args: map[string]json.RawMessage{}}
		set, err := r.tools(p.Source, undeclared)
		if err != nil {
			return nil, fmt.Errorf("agent: replay: %w", err)
		}
		p.Tools = set
		out, err := box.Run(ctx, p)
		r.restore(out)
		if out == nil || err != nil || out.Failure == nil || out.Failure.Ran() || undeclared != nil {
			return out, err
		}
		undeclared = []string{}
		for _, f := range out.Failure.Findings {
			if name, ok := strings.CutSuffix(f.Message, " is not defined"); ok && f.Kind == "undeclared" {
				undeclared = append(undeclared, name)
			}
		}
	}
}

// replay answers calls with the results of a step.
type replay struct {
	was *sandbox.Outcome

	mu   sync.Mutex
	used map[int]bool               // the recorded calls whose results were given
	args map[string]json.RawMessage // their arguments, by their tool and the argument of the program
}

// tools returns the tools that the recorded calls and the undeclared names stand for, with those members of the same
// objects that the program names.
func (r *replay) tools(source string, undeclared []string) (*tools.Set, error) {
	paths, roots := map[string]bool{}, map[string]bool{}
	for _, c := range r.was.Calls {
		root, _, _ := strings.Cut(c.Tool, ".")
		paths[c.Tool], roots[root] = true, true
	}
	for _, name := range undeclared {
		roots[name] = true
	}
	for root := range roots {
		if paths[root] {
			continue
		}
		members := regexp.MustCompile(`(?:^|[^\w$.])` + regexp.QuoteMeta(root) + `\s*\??\.\s*([A-Za-z_$][\w$]*)`)
		for _, m := range members.FindAllStringSubmatch(source, -1) {
			paths[root+"."+m[1]] = true
		}
		if !members.MatchString(source) {
			paths[root] = true
		}
	}
	var sources []tools.Source
	var own []*tools.Tool // to which policies do not apply
	for path := range paths {
		namespace, name, ok := strings.Cut(path, ".")
		if !ok {
			namespace, name = "", path
		}
		t := &tools.Tool{
			Namespace: namespace, Name: name, Hints: tools.Hints{Class: tools.Read},
			Params: []string{"first", "second"}, // an object, or without a schema anything else
			Handler: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
				return r.answer(ctx, path, tools.Call{Args: args})
			},
		}
		if namespace == globals.Tools {
			own = append(own, t)
		} else {
			sources = append(sources, t)
		}
	}
	set, err := tools.NewSet(context.Background(), sources...)
	for _, t := range own {
		if err == nil {
			set, err = set.Plus(t)
		}
	}
	return set.With(func(tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			return r.answer(ctx, c.Tool.Path(), c)
		})
	}), err
}

// answer returns the recorded result of a call.
func (r *replay) answer(ctx context.Context, path string, c tools.Call) (json.RawMessage, error) {
	given := positional(c.Args)
	was, failure := r.take(path, c, given), r.was.Failure
	switch {
	case was == nil:
		return nil, tools.Fatal(fmt.Errorf("agent: replay: there is no recorded result for %s(%.200s)", path, given))
	case was.Pending && failure != nil && failure.Kind == sandbox.KindStopped:
		return nil, tools.Fatal(fmt.Errorf("agent: replay: the run ended before the result of %s(%.200s)", path, given))
	case was.Pending: // when the program ended
		<-ctx.Done()
		return nil, ctx.Err()
	case was.Error == nil:
		return was.Result, nil
	case failure != nil && failure.Hold != nil && failure.Hold.Error() == was.Error.Message:
		return nil, failure.Hold
	}
	return nil, &tools.ToolError{Kind: was.Error.Kind, Message: was.Error.Message, Data: was.Error.Data}
}

// restore replaces the arguments of an outcome's calls by the recorded ones.
func (r *replay) restore(out *sandbox.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := 0; out != nil && i < len(out.Calls); i++ {
		c := &out.Calls[i]
		if c.Args = positional(c.Args); r.args[c.Tool+string(c.Args)] != nil {
			c.Args = r.args[c.Tool+string(c.Args)]
		}
	}
}

// positional returns the first argument of a call, or an empty object.
func positional(args json.RawMessage) json.RawMessage {
	var list struct{ First json.RawMessage }
	if json.Unmarshal(args, &list) != nil || list.First == nil {
		return json.RawMessage("{}")
	}
	return list.First
}

// take returns the first recorded call that fits and whose result was not given yet, or nil. The arguments fit if they
// are equal, or if the recorded ones at the same position have more members: defaults of the schema, and what policies
// changed.
func (r *replay) take(path string, c tools.Call, given json.RawMessage) *sandbox.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, equal := range []bool{true, false} {
		for i, was := range r.was.Calls {
			if was.Tool != path || r.used[i] {
				continue
			}
			at := was.Line == c.Line && was.Column == c.Column
			if equal && canonical.Equal(was.Args, given) || !equal && (at || c.Line == 0) && contains(was.Args, given) {
				r.used[i], r.args[path+string(given)] = true, was.Args
				return &was
			}
		}
	}
	return nil
}

// contains reports whether the recorded arguments have the members of the given ones, where null counts as missing. An
// argument that is not an object is the value of a member.
func contains(all, given json.RawMessage) bool {
	var a, g map[string]json.RawMessage
	if json.Unmarshal(all, &a) != nil {
		return false
	}
	if json.Unmarshal(given, &g) != nil {
		for _, v := range a {
			if canonical.Equal(v, given) {
				return true
			}
		}
	}
	for name, v := range g {
		if string(v) != "null" && !canonical.Equal(a[name], v) {
			return false
		}
	}
	return g != nil
}
